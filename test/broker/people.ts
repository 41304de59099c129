/** Keys, channels and events of the broker's tests. The same number is the same key. */
import { channelId, pubkey, seconds } from '../../src/model/index.ts';
import type { ChannelId, Pubkey } from '../../src/model/index.ts';
import { publicKeyOf, signEvent } from '../../src/nostr/index.ts';
import type { Tag, VerifiedEvent } from '../../src/nostr/index.ts';
import { START_MS } from './clock.ts';

export interface Person {
  readonly secretKey: Uint8Array;
  readonly pubkey: Pubkey;
  /** A kind 9 message unless told otherwise, `createdAtSec` by default the held clock's start. */
  sign(parts: {
    readonly tags: readonly Tag[];
    readonly content?: string;
    readonly kind?: number;
    readonly createdAtSec?: number;
  }): VerifiedEvent;
}

const AUX = new Uint8Array(32);
export const START_SEC = START_MS / 1000;

export function person(number: number): Person {
  const secretKey = new Uint8Array(32);
  secretKey[31] = number;
  return {
    secretKey,
    pubkey: pubkey(Buffer.from(publicKeyOf(secretKey) ?? []).toString('hex')),
    sign: ({ tags, content = 'hello', kind = 9, createdAtSec = START_SEC }) =>
      signEvent({ created_at: seconds(createdAtSec), kind, tags, content }, secretKey, AUX),
  };
}

export const OWNER = person(1);
export const AGENT = person(2);
export const SIBLING = person(3);
export const STRANGER = person(4);

export const CHANNEL: ChannelId = channelId('00000000-0000-4000-8000-000000000001');
export const ELSEWHERE: ChannelId = channelId('00000000-0000-4000-8000-000000000002');
