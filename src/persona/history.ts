/** What was saved of a subject: the version that counts, and all of them, newest first, page by page. */
import { refuse } from '../model/index.ts';
import type { EventId, Refusal } from '../model/index.ts';
import { matchesFilter, newestFirst } from '../nostr/index.ts';
import { nextPage } from './pages.ts';
import type { Cursor } from './pages.ts';
import type { ReadingPorts } from './ports.ts';
import { readVersion, subjectFilter } from './version.ts';
import type { Subject, Version } from './version.ts';


/** Undefined: the relay says that there is none. A relay or a key that was not reached says nothing, and is a refusal. */
export async function currentVersion(
  { key, relay }: ReadingPorts, subject: Subject,
): Promise<{ readonly ok: true; readonly version: Version | undefined } | Refusal<'unavailable'>> {
  const filter = subjectFilter(key.pubkey, subject);
  const { events, complete } = await relay.query([{ ...filter, limit: 1 }]);
  if (!complete) return refuse('unavailable', 'relay: expected an answer about the current version');
  const event = events.filter((one) => matchesFilter(filter, one)).sort(newestFirst)[0];
  return event === undefined ? { ok: true, version: undefined } : readVersion(event, key);
}

/** The id of the newest version behind `cursor`; undefined where there is none, or the relay does not say. */
export async function versionBehind({ key, relay }: ReadingPorts, subject: Subject, cursor: Cursor): Promise<EventId | undefined> {
  const next = await nextPage(relay, subjectFilter(key.pubkey, subject), cursor, 1);
  return next.ok && next.page.status === 'page' ? next.page.events[0]?.id : undefined;
}

export type HistoryPage =
  /** `cursor` is for the next page. */
  | { readonly status: 'page'; readonly versions: readonly Version[]; readonly cursor: Cursor }
  /** The page was empty: everything has been read. Nothing else says so. */
  | { readonly status: 'end' };

/** Versions behind `cursor`, undefined for the newest. Invalid ones are among them. */
export async function historyPage(
  { key, relay }: ReadingPorts, subject: Subject, cursor: Cursor | undefined, limit?: number,
): Promise<{ readonly ok: true; readonly page: HistoryPage } | Refusal<'unavailable'>> {
  const next = await nextPage(relay, subjectFilter(key.pubkey, subject), cursor, limit);
  if (!next.ok) return next;
  if (next.page.status === 'end') return { ok: true, page: next.page };
  const versions: Version[] = [];
  for (const event of next.page.events) {
    const read = await readVersion(event, key);
    if (!read.ok) return read;
    versions.push(read.version);
  }
  return { ok: true, page: { status: 'page', versions, cursor: next.page.cursor } };
}
