/**
 * Keys as people write them: npub or hex for a public key, nsec or hex for a secret one. A mistake is told by what was
 * expected; a secret is never repeated.
 */
import { decode, npubEncode } from 'nostr-tools/nip19';
import { asPubkey, excerpt, refuse } from '../model/index.ts';
import type { Pubkey, Random, Refusal } from '../model/index.ts';
import { isXOnly, publicKeyOf } from './curve.ts';

/** An npub, or 64 hex characters in either case, as a pubkey on the curve. */
export function parsePubkey(text: string): { readonly ok: true; readonly pubkey: Pubkey } | Refusal<'pubkey' | 'mixed_case'> {
  const trimmed = text.trim();
  if (/^nsec1/i.test(trimmed)) return refuse('pubkey', 'expected a public key (npub or hex), found a secret key; replace it');
  const isNpub = /^npub1/i.test(trimmed);
  if (isNpub && isMixedCase(trimmed)) {
    // BIP-173: what was mixed on its way may have been changed in other ways, too.
    return refuse('mixed_case', 'expected an npub all in lower or all in upper case, found both');
  }
  const hex = isNpub ? decodeAs('npub', trimmed.toLowerCase()) : trimmed.toLowerCase();
  const pubkey = typeof hex === 'string' ? asPubkey(hex) : undefined;
  if (pubkey === undefined || !isXOnly(Buffer.from(pubkey, 'hex'))) {
    return refuse('pubkey', `expected an npub or 64 hex characters of a public key, found ${describe(trimmed)}`);
  }
  return { ok: true, pubkey };
}

/** An nsec, or 64 hex characters, as a 32-byte secret key with its pubkey. The text never appears in a refusal. */
export function parseSecretKey(
  text: string,
): { readonly ok: true; readonly secretKey: Uint8Array; readonly pubkey: Pubkey } | Refusal<'secret_key'> {
  const trimmed = text.replace(/^\uFEFF/, '').trim();
  const expected = 'expected an nsec or 64 hex characters of a secret key';
  if (/^npub1/i.test(trimmed)) return refuse('secret_key', `${expected}, found a public key (npub)`);
  const isNsec = /^nsec1/i.test(trimmed);
  if (isNsec && isMixedCase(trimmed)) {
    return refuse('secret_key', 'expected an nsec all in lower or all in upper case, found both');
  }
  const decoded = isNsec ? decodeAs('nsec', trimmed.toLowerCase()) : undefined;
  const bytes = decoded ?? (/^[0-9a-f]{64}$/i.test(trimmed) ? Buffer.from(trimmed, 'hex') : undefined);
  const secretKey = bytes instanceof Uint8Array ? new Uint8Array(bytes) : undefined;
  const xOnly = secretKey === undefined ? undefined : publicKeyOf(secretKey);
  const pubkey = xOnly === undefined ? undefined : asPubkey(Buffer.from(xOnly).toString('hex'));
  if (secretKey === undefined || pubkey === undefined) {
    return refuse('secret_key', `${expected}, found ${trimmed.length} characters that are neither`);
  }
  return { ok: true, secretKey, pubkey };
}

/** A key nobody has. One draw in 2^128 is no key; then the next one is. */
export function newSecretKey(random: Random): { readonly secretKey: Uint8Array; readonly pubkey: Pubkey } {
  for (;;) {
    const parsed = parseSecretKey(Buffer.from(random.bytes(32)).toString('hex'));
    if (parsed.ok) return { secretKey: parsed.secretKey, pubkey: parsed.pubkey };
  }
}

/** The npub of a pubkey, for people. */
export function toNpub(pubkey: Pubkey): string {
  return npubEncode(pubkey);
}

function isMixedCase(text: string): boolean {
  return text !== text.toLowerCase() && text !== text.toUpperCase();
}

function decodeAs(type: 'npub' | 'nsec', text: string): string | Uint8Array | undefined {
  try {
    const decoded = decode(text);
    return decoded.type === type ? decoded.data : undefined;
  } catch {
    return undefined;
  }
}

function describe(text: string): string {
  // 64 hex characters in the wrong place may be a secret key: say only what can be said of any text.
  return /^[0-9a-f]{32,}$/i.test(text) ? `${text.length} hex characters` : `"${excerpt(text, 24)}"`;
}
