/** The owner whose key NIP-AP pins, an agent and a stranger. */
import { pubkey } from '../../src/model/index.ts';
import { publicKeyOf } from '../../src/nostr/index.ts';

export function keyOf(number: number): Uint8Array {
  return new Uint8Array(Buffer.from(number.toString(16).padStart(64, '0'), 'hex'));
}

function pubkeyOf(number: number) {
  return pubkey(Buffer.from(publicKeyOf(keyOf(number)) ?? []).toString('hex'));
}

export const owner = pubkeyOf(1);
export const agent = pubkeyOf(2);
export const stranger = pubkeyOf(3);
