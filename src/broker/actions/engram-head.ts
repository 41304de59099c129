/**
 * Which event is a memory record: the head of its address among the valid ones (NIP-AE). Valid is an event of the
 * agent with exactly this `d` and the owner's `p`, whose text opens between the two and is a body of this very slug.
 * The signature was verified when the event was read, before anything is decrypted.
 */
import type { Seconds } from '../../model/index.ts';
import { ENGRAM_KIND, newestFirst, readEngramBody } from '../../nostr/index.ts';
import type { VerifiedEvent } from '../../nostr/index.ts';
import type { ActionContext, Unreadable } from './action.ts';

export interface EngramHead {
  readonly event: VerifiedEvent;
  /** Undefined for a tombstone. */
  readonly value: string | undefined;
}

export type EngramReading =
  /** `newestSec` is the stamp of the newest event at the address, valid or not: what a new one has to rise above. */
  | { readonly status: 'read'; readonly head: EngramHead | undefined; readonly newestSec: Seconds | undefined }
  /** The relay has not answered in full, or holds more at this address than was asked for, and none of it valid. */
  | Unreadable;

/** A relay keeps one event for an address; more come from one that keeps them all. */
const MAX_EVENTS = 100;

export async function readEngramHead(dTag: string, { agent, owner, withOwner, fetch }: ActionContext): Promise<EngramReading> {
  const tags = new Map([['d', [dTag]]]);
  const { events, complete, refusal } = await fetch([{ kinds: [ENGRAM_KIND], authors: [agent], tags, limit: MAX_EVENTS }]);
  if (!complete) return { status: 'unreadable', refusal };
  // A relay may lie: what is not at this address is not looked at.
  const there = events
    .filter((event) => event.kind === ENGRAM_KIND && event.pubkey === agent && only(event, 'd') === dTag)
    .toSorted(newestFirst);
  for (const event of there) {
    if (only(event, 'p') !== owner) continue;
    const opening = withOwner.open(event.content);
    if (!opening.ok) continue;
    const body = readEngramBody(opening.plaintext, (slug) => withOwner.engramAddress(slug) === dTag);
    if (body.ok) return { status: 'read', head: { event, value: body.value }, newestSec: there[0]?.created_at };
  }
  if (events.length >= MAX_EVENTS) return { status: 'unreadable', refusal: undefined };
  return { status: 'read', head: undefined, newestSec: there[0]?.created_at };
}

function only({ tags }: VerifiedEvent, name: string): string | undefined {
  const found = tags.filter((tag) => tag[0] === name);
  return found.length === 1 ? found[0]?.[1] : undefined;
}
