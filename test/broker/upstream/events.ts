/** People and events for the tests of the relay connection. */
import { pubkey, seconds } from '../../../src/model/index.ts';
import type { Pubkey } from '../../../src/model/index.ts';
import { publicKeyOf, signEvent } from '../../../src/nostr/index.ts';
import type { EventTemplate, Tag, VerifiedEvent } from '../../../src/nostr/index.ts';

const NO_AUX = new Uint8Array(32);

function person(last: number): { readonly secretKey: Uint8Array; readonly pubkey: Pubkey } {
  const secretKey = new Uint8Array(32);
  secretKey[31] = last;
  return { secretKey, pubkey: pubkey(Buffer.from(publicKeyOf(secretKey) ?? []).toString('hex')) };
}

export const agent = person(1);
export const author = person(2);
export const relayKey = person(3);

export function sign(by: { readonly secretKey: Uint8Array }, template: Partial<EventTemplate> & { readonly kind: number }): VerifiedEvent {
  return signEvent({ created_at: seconds(1_800_000_000), tags: [], content: '', ...template }, by.secretKey, NO_AUX);
}

export function authEvent(challenge: string, relayUrl: string): VerifiedEvent {
  return sign(agent, { kind: 22_242, tags: [['relay', relayUrl], ['challenge', challenge]] });
}

/** A kind 9 message of `author`, naming the agent. */
export function mention(channel: string, content: string, atSec: number, tags: readonly Tag[] = []): VerifiedEvent {
  return sign(author, {
    kind: 9, content, created_at: seconds(atSec), tags: [['h', channel], ['p', agent.pubkey], ...tags],
  });
}
