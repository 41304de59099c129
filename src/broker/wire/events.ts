/**
 * Between the events of `src/nostr`, whose times are JavaScript numbers, and those of the wire, whose u64 times are
 * bigints. Nothing is rewritten: the other six members pass as they were signed.
 */
import { parseEvent } from '../../nostr/index.ts';
import type { UnverifiedEvent } from '../../nostr/index.ts';
import type { WireEvent } from './actions.ts';

/** `event` as an outcome carries it; the seven members and nothing else. */
export function toWireEvent(event: UnverifiedEvent): WireEvent {
  const { id, pubkey, created_at: createdAt, kind, tags, content, sig } = event;
  return { id, pubkey, created_at: BigInt(createdAt), kind, tags, content, sig };
}

/** The event to verify, or undefined when its time or kind is beyond what an event we can verify may have. */
export function fromWireEvent(event: WireEvent): UnverifiedEvent | undefined {
  const parsed = parseEvent({ ...event, created_at: Number(event.created_at) });
  return parsed.ok ? parsed.event : undefined;
}
