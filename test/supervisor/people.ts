/** Keys, channels and events for the supervisor's tests: made from fixed seeds, so that every run reads the same. */
import { channelId, eventId, milliseconds, pubkey, seconds } from '../../src/model/index.ts';
import type { Milliseconds, Pubkey } from '../../src/model/index.ts';
import { destinationOf, publicKeyOf, signEvent } from '../../src/nostr/index.ts';
import type { Tag, VerifiedEvent } from '../../src/nostr/index.ts';
import type { Entry } from '../../src/supervisor/inbox/entry.ts';

const AUX = new Uint8Array(32);

export interface Person {
  readonly secretKey: Uint8Array;
  readonly pubkey: Pubkey;
}

export function person(seed: number): Person {
  const secretKey = new Uint8Array(32).fill(seed);
  return { secretKey, pubkey: pubkey(Buffer.from(publicKeyOf(secretKey) ?? []).toString('hex')) };
}

export const owner = person(1);
export const agent = person(2);
export const friend = person(3);
export const sibling = person(4);
export const channel = channelId('00000000-0000-4000-8000-000000000001');
export const otherChannel = channelId('00000000-0000-4000-8000-000000000002');

export interface MessageParts {
  readonly by?: Person;
  readonly at?: number;
  readonly kind?: number;
  readonly tags?: readonly Tag[];
  readonly content?: string;
}

let count = 0;

/** A signed kind-9 message that mentions the agent; each one differs. */
export function message({ by = owner, at = 1_700_000_000, kind = 9, tags, content }: MessageParts = {}): VerifiedEvent {
  count += 1;
  return signEvent(
    { created_at: seconds(at), kind, tags: tags ?? [['h', channel], ['p', agent.pubkey]], content: content ?? `message ${count}` },
    by.secretKey,
    AUX,
  );
}

/** The tags of a message in the thread of `root` that mentions the agent. */
export function inThread(root: string): readonly Tag[] {
  return [['h', channel], ['e', root, '', 'reply'], ['p', agent.pubkey]];
}

export function entryOf(event: VerifiedEvent, receivedAt: number, more: Partial<Entry> = {}): Entry {
  const receivedAtMs = ms(receivedAt);
  return {
    eventId: event.id, channelId: channel, lane: channel, destination: destinationOf(event), author: event.pubkey,
    rule: '@mention', hops: 0, receivedAtMs, attempts: 0, interrupted: false, notBeforeMs: ms(0), event, ...more,
  };
}

export function ms(value: number): Milliseconds {
  return milliseconds(value);
}

export const someRoot = eventId('ab'.repeat(32));
