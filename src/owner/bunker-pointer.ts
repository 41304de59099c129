/**
 * Where a remote signer is: `bunker://<its pubkey>?relay=<url>&secret=<word>` (NIP-46). The secret admits a client once and
 * is never repeated in a message.
 */
import { normalizeRelayUrl } from '../broker/upstream/index.ts';
import { asPubkey, refuse } from '../model/index.ts';
import type { Pubkey, Refusal } from '../model/index.ts';
import { isXOnly } from '../nostr/index.ts';

export interface BunkerPointer {
  /** The signer's own key, which need not be the owner's. */
  readonly signer: Pubkey;
  /** 1 to 4, in normal form. */
  readonly relays: readonly string[];
  readonly secret: string;
}

/** Each relay is a connection. */
const MAX_RELAYS = 4;

export function isBunker(text: string): boolean {
  return /^\s*bunker:/i.test(text);
}

export function parseBunker(text: string): { readonly ok: true; readonly pointer: BunkerPointer } | Refusal<'bunker'> {
  const [, key = '', query = ''] = /^bunker:\/\/([0-9a-f]{64})\/?(?:\?(\S*))?$/i.exec(text.trim()) ?? [];
  const signer = asPubkey(key.toLowerCase());
  if (signer === undefined || !isXOnly(Buffer.from(signer, 'hex'))) return bad('bunker://<64 hex characters of the signer\'s key>?relay=<url>');
  const members = new URLSearchParams(query);
  const relays: string[] = [];
  for (const written of members.getAll('relay')) {
    const relay = normalizeRelayUrl(written);
    if (!relay.ok) return bad('each relay as ws:// or wss://');
    if (!relays.includes(relay.url)) relays.push(relay.url);
  }
  if (relays.length === 0 || relays.length > MAX_RELAYS) return bad(`1 to ${MAX_RELAYS} relays`);
  return { ok: true, pointer: { signer, relays, secret: members.get('secret') ?? '' } };
}

function bad(expected: string): Refusal<'bunker'> {
  return refuse('bunker', `bunker: expected ${expected}`);
}
