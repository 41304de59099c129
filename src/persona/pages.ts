/**
 * Reading everything that matches a filter, page by page, with the composite cursor of NIP-AP "Current version and
 * history": equal stamps are neither repeated nor skipped, however a relay caps, orders or repeats its pages. Only an
 * empty page is the end.
 */
import { refuse } from '../model/index.ts';
import type { EventId, Refusal, Seconds } from '../model/index.ts';
import { matchesFilter, newestFirst } from '../nostr/index.ts';
import type { Filter, PagedFilter, UnverifiedEvent, VerifiedEvent } from '../nostr/index.ts';
import type { ReadingPorts } from './ports.ts';

/** The last event that was taken; undefined before the first page. */
export interface Cursor {
  readonly createdAt: Seconds;
  readonly id: EventId;
}

export type Page<Event> =
  /** At least one event, newest first, all behind the cursor that was asked with. */
  | { readonly status: 'page'; readonly events: readonly Event[]; readonly cursor: Cursor }
  | { readonly status: 'end' }
  /** The relay answered with nothing that is behind the cursor, and not with nothing: no end, and no progress. */
  | { readonly status: 'stuck' };

/** More than a relay gives is no fault of it: it caps. */
export const PAGE_EVENTS = 100;

export function pageQuery(filter: Filter, cursor: Cursor | undefined, limit = PAGE_EVENTS): PagedFilter {
  return cursor === undefined ? { ...filter, limit } : { ...filter, limit, until: cursor.createdAt, beforeId: cursor.id };
}

/** What a complete answer to `pageQuery` brought. */
export function takePage<Event extends UnverifiedEvent>(filter: Filter, cursor: Cursor | undefined, answer: readonly Event[]): Page<Event> {
  if (answer.length === 0) return { status: 'end' };
  const matching = answer.filter((event) => matchesFilter(filter, event) && (cursor === undefined || isBehind(cursor, event)));
  const events = [...new Map(matching.map((event) => [event.id, event] as const)).values()].sort(newestFirst);
  const last = events.at(-1);
  return last === undefined ? { status: 'stuck' } : { status: 'page', events, cursor: { createdAt: last.created_at, id: last.id } };
}

function isBehind(cursor: Cursor, event: UnverifiedEvent): boolean {
  return event.created_at < cursor.createdAt || (event.created_at === cursor.createdAt && event.id > cursor.id);
}

/** How often a page that brings nothing new is asked for again before the relay is given up. */
const MAX_STUCK = 3;

export async function nextPage(
  relay: ReadingPorts['relay'], filter: Filter, cursor: Cursor | undefined, limit?: number,
): Promise<{ readonly ok: true; readonly page: Exclude<Page<VerifiedEvent>, { readonly status: 'stuck' }> } | Refusal<'unavailable'>> {
  for (let tries = 0; tries < MAX_STUCK; tries += 1) {
    const answer = await relay.query([pageQuery(filter, cursor, limit)]);
    if (!answer.complete) return refuse('unavailable', 'relay: expected a whole page; its answer did not come, or not all of it');
    const page = takePage(filter, cursor, answer.events);
    if (page.status !== 'stuck') return { ok: true, page };
  }
  return refuse('unavailable', 'relay: expected a page behind the last event, found the same ones again');
}

/** Everything that matches, newest first; or that it cannot be known. */
export async function readAll(
  relay: ReadingPorts['relay'], filter: Filter,
): Promise<{ readonly ok: true; readonly events: readonly VerifiedEvent[] } | Refusal<'unavailable'>> {
  const events: VerifiedEvent[] = [];
  let cursor: Cursor | undefined;
  for (;;) {
    const next = await nextPage(relay, filter, cursor);
    if (!next.ok) return next;
    if (next.page.status === 'end') return { ok: true, events };
    events.push(...next.page.events);
    cursor = next.page.cursor;
  }
}
