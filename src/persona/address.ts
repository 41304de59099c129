/**
 * Where a replaceable event of NIP-AP lives and which one counts: its one `d` tag, its `shared` tag, the head among
 * what a relay answered, the stamp of the next one, and the request that deletes it. NIP-AP "Replacement semantics",
 * "Writing", "Deletion", "Ingest validation".
 */
import { seconds } from '../model/index.ts';
import type { Pubkey, Seconds } from '../model/index.ts';
import { newestFirst } from '../nostr/index.ts';
import type { EventTemplate, Filter, Tag, UnverifiedEvent } from '../nostr/index.ts';
import { PERSONA_KIND } from './kinds.ts';

export interface Address {
  readonly kind: number;
  readonly author: Pubkey;
  /** The value of the `d` tag: a slug, a team id, an agent's pubkey. */
  readonly d: string;
}

export function addressTags(d: string, isShared: boolean): readonly Tag[] {
  return isShared ? [['d', d], ['shared', 'true']] : [['d', d]];
}

/** The value of the one `d` tag. Tags count by their first element: beside a bare `["d"]` no other one is the one. */
export function identifierOf(tags: readonly Tag[]): string | undefined {
  const found = tags.filter(([name]) => name === 'd');
  return found.length === 1 ? found[0]?.[1] : undefined;
}

/** Exactly `["shared","true"]`, once. Whatever else is called so opens nothing. */
export function isShared(tags: readonly Tag[]): boolean {
  const found = tags.filter(([name]) => name === 'shared');
  return found.length === 1 && found[0]?.length === 2 && found[0][1] === 'true';
}

export function addressFilter({ kind, author, d }: Address): Filter {
  return { kinds: [kind], authors: [author], tags: new Map([['d', [d]]]) };
}

/** The head of an address among any events: the greatest `created_at`, on a tie the lowest id. */
export function headAt<Event extends UnverifiedEvent>({ kind, author, d }: Address, events: readonly Event[]): Event | undefined {
  return events.filter((one) => one.kind === kind && one.pubkey === author && identifierOf(one.tags) === d).sort(newestFirst)[0];
}

/** The heads of all addresses of one author and kind, by their `d`. */
export function headsOf<Event extends UnverifiedEvent>(kind: number, author: Pubkey, events: readonly Event[]): ReadonlyMap<string, Event> {
  const heads = new Map<string, Event>();
  for (const event of [...events].sort(newestFirst)) {
    const d = event.kind === kind && event.pubkey === author ? identifierOf(event.tags) : undefined;
    if (d !== undefined && !heads.has(d)) heads.set(d, event);
  }
  return heads;
}

/** `max(now, T + 1)`, T the latest stamp that the next one has to supersede: our own stamps always rise. */
export function nextStamp(nowSec: Seconds, earlier: readonly { readonly created_at: Seconds }[]): Seconds {
  return seconds(Math.max(nowSec, ...earlier.map(({ created_at: at }) => at + 1)));
}

/** As NIP-09's `a` tags write it. */
export function addressText({ kind, author, d }: Address): string {
  return `${kind}:${author}:${d}`;
}

/**
 * The request that deletes what lies at an address up to `head`: it is stamped no earlier, because NIP-09 leaves alone
 * what is newer than the request. A later write, stamped behind it, is there again.
 */
export function deletionOf(address: Address, nowSec: Seconds, head?: { readonly created_at: Seconds }): EventTemplate {
  const created_at = seconds(Math.max(nowSec, head?.created_at ?? 0));
  return { kind: PERSONA_KIND.deletion, created_at, tags: [['a', addressText(address)], ['k', String(address.kind)]], content: '' };
}

/** The requests at an address, whose stamps a write has to pass. */
export function deletionFilter(address: Address): Filter {
  return { kinds: [PERSONA_KIND.deletion], authors: [address.author], tags: new Map([['a', [addressText(address)]]]) };
}
