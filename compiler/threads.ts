/**
 * Where an event stands in its thread and whom it names. NIP-10 marked tags only; unmarked `e` tags are no thread.
 */
import type { TurnEvent } from './turn.ts';

/** Lowercase event ids. For a direct reply to the root, both are the root. */
export interface Thread {
  readonly root: string;
  readonly parent: string;
}

const EVENT_ID = /^[0-9a-f]{64}$/i;

/** The thread of `event`; `undefined` for a top-level message. */
export function threadOf(event: TurnEvent): Thread | undefined {
  let root: string | undefined;
  let reply: string | undefined;
  for (const tag of event.tags) {
    const [name, id, , marker] = tag;
    if (name !== 'e' || id === undefined || !EVENT_ID.test(id)) continue;
    // NIP-10: marked tags have a fourth element; the last of each marker wins.
    if (marker === 'root') root = id.toLowerCase();
    else if (marker === 'reply') reply = id.toLowerCase();
  }
  // A lone `root` without a `reply` is a top-level message, as Buzz reads it.
  return reply === undefined ? undefined : { root: root ?? reply, parent: reply };
}

/** Who is mentioned: the second element of every `p` tag that has one, in order, as written, unchecked. */
export function mentionsOf(event: TurnEvent): readonly string[] {
  const mentions: string[] = [];
  for (const [name, pubkey] of event.tags) {
    if (name === 'p' && pubkey !== undefined) mentions.push(pubkey);
  }
  return mentions;
}
