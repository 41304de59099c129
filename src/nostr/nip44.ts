/**
 * NIP-44 v2: a text between two keys. ChaCha20 and HMAC-SHA256 under keys that HKDF derives for each message from the
 * conversation key and a nonce. Chance is a parameter; a payload that is none is a refusal, never an exception.
 * A text of 65,536 bytes and more carries NIP-44's extended length prefix. What holds a plaintext as bytes is overwritten
 * after use (NIP-AO "Encryption"); a string cannot be.
 */
import { isUtf8 } from 'node:buffer';
import { createCipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import { refuse } from '../model/index.ts';
import type { Pubkey, Refusal } from '../model/index.ts';
import { sharedX } from './curve.ts';

/** What either side of a conversation derives: 32 bytes, as secret as the keys it came from. */
export type ConversationKey = Uint8Array;

/**
 * Bytes of a plaintext, sealed and opened. NIP-44 allows 4 GiB; no text of ours comes near this one, and a stranger's
 * payload is held to it before anything is computed. Callers have narrower bounds of their own.
 */
export const NIP44_MAX_PLAINTEXT_BYTES = 1_048_576;

const VERSION = 2;
const NONCE_BYTES = 32;
const MAC_BYTES = 32;
const SHORT_PREFIX_BYTES = 2;
/** Two zero bytes, then the length in four. */
const LONG_PREFIX_BYTES = 6;
const LONG_FROM_BYTES = 65_536;
const OVERHEAD_BYTES = 1 + NONCE_BYTES + MAC_BYTES;
const MIN_PAYLOAD_CHARACTERS = 132;
const MAX_PAYLOAD_CHARACTERS =
  Math.ceil((OVERHEAD_BYTES + LONG_PREFIX_BYTES + paddedLength(NIP44_MAX_PLAINTEXT_BYTES)) / 3) * 4;

/** NIP-44 "Encryption" 1. Undefined when either is no key. */
export function conversationKey(secretKey: Uint8Array, peer: Pubkey): ConversationKey | undefined {
  const shared = sharedX(secretKey, Buffer.from(peer, 'hex'));
  return shared && createHmac('sha256', 'nip44-v2').update(shared).digest();
}

export type Sealing = { readonly ok: true; readonly payload: string } | Refusal<'plaintext'>;

/** `nonce` is 32 bytes of randomness, never used before; another length is a bug and throws. */
export function sealText(plaintext: string, key: ConversationKey, nonce: Uint8Array): Sealing {
  if (nonce.length !== NONCE_BYTES) throw new TypeError(`nonce: expected ${NONCE_BYTES} bytes`);
  if (!plaintext.isWellFormed()) return refuse('plaintext', 'plaintext: expected no unpaired surrogate');
  const size = Buffer.byteLength(plaintext, 'utf8');
  if (size < 1 || size > NIP44_MAX_PLAINTEXT_BYTES) {
    return refuse('plaintext', `plaintext: expected 1 to ${NIP44_MAX_PLAINTEXT_BYTES} bytes, found ${size}`);
  }
  const { cipherKey, iv, macKey } = messageKeys(key, nonce);
  const plain = padded(plaintext, size);
  const ciphertext = createCipheriv('chacha20', cipherKey, iv).update(plain);
  plain.fill(0);
  const mac = macOf(macKey, nonce, ciphertext);
  const payload = Buffer.concat([Uint8Array.of(VERSION), nonce, ciphertext, mac]).toString('base64');
  return { ok: true, payload };
}

export type Opening =
  | { readonly ok: true; readonly plaintext: string }
  | Refusal<'version' | 'payload' | 'mac' | 'padding' | 'text'>;

/** Total: whatever a stranger sends is a text or a refusal, and no refusal repeats any of it. */
export function openText(payload: string, key: ConversationKey): Opening {
  // NIP-44 "Decryption" 1: reserved for a version that is not base64.
  if (payload.startsWith('#')) return refuse('version', 'payload: an encryption version that is not known');
  if (payload.length < MIN_PAYLOAD_CHARACTERS || payload.length > MAX_PAYLOAD_CHARACTERS) {
    return refuse('payload', `payload: expected ${MIN_PAYLOAD_CHARACTERS} to ${MAX_PAYLOAD_CHARACTERS} characters`);
  }
  const bytes = decodeBase64(payload);
  if (bytes === undefined) return refuse('payload', 'payload: expected base64');
  if (bytes[0] !== VERSION) return refuse('version', 'payload: an encryption version that is not known');
  const nonce = bytes.subarray(1, 1 + NONCE_BYTES);
  const ciphertext = bytes.subarray(1 + NONCE_BYTES, -MAC_BYTES);
  const { cipherKey, iv, macKey } = messageKeys(key, nonce);
  if (!timingSafeEqual(macOf(macKey, nonce, ciphertext), bytes.subarray(-MAC_BYTES))) {
    return refuse('mac', 'payload: not sealed under this key, or changed on its way');
  }
  // ChaCha20 is its own inverse.
  const plain = createCipheriv('chacha20', cipherKey, iv).update(ciphertext);
  const opening = unpadded(plain);
  plain.fill(0);
  return opening;
}

interface MessageKeys {
  readonly cipherKey: Buffer;
  readonly iv: Buffer;
  readonly macKey: Buffer;
}

/** HKDF-expand (RFC 5869 2.3) to 76 bytes, cut as NIP-44 says; the iv is OpenSSL's: a counter from 0, then the nonce. */
function messageKeys(key: ConversationKey, nonce: Uint8Array): MessageKeys {
  const first = createHmac('sha256', key).update(nonce).update(FIRST).digest();
  const second = createHmac('sha256', key).update(first).update(nonce).update(SECOND).digest();
  const third = createHmac('sha256', key).update(second).update(nonce).update(THIRD).digest();
  const iv = Buffer.alloc(16);
  second.copy(iv, 4, 0, 12);
  return { cipherKey: first, iv, macKey: Buffer.concat([second.subarray(12), third.subarray(0, 12)]) };
}

const FIRST = Uint8Array.of(1);
const SECOND = Uint8Array.of(2);
const THIRD = Uint8Array.of(3);

function macOf(macKey: Uint8Array, nonce: Uint8Array, ciphertext: Uint8Array): Buffer {
  return createHmac('sha256', macKey).update(nonce).update(ciphertext).digest();
}

/** NIP-44 "Padding": 32 bytes at least, then in steps of an eighth of the next power of two. */
function paddedLength(size: number): number {
  if (size <= 32) return 32;
  const nextPower = 2 ** (Math.floor(Math.log2(size - 1)) + 1);
  const step = nextPower <= 256 ? 32 : nextPower / 8;
  return step * (Math.floor((size - 1) / step) + 1);
}

function padded(plaintext: string, size: number): Buffer {
  const prefixBytes = size < LONG_FROM_BYTES ? SHORT_PREFIX_BYTES : LONG_PREFIX_BYTES;
  const bytes = Buffer.alloc(prefixBytes + paddedLength(size));
  if (prefixBytes === SHORT_PREFIX_BYTES) bytes.writeUInt16BE(size, 0);
  else bytes.writeUInt32BE(size, 2);
  bytes.write(plaintext, prefixBytes, 'utf8');
  return bytes;
}

function unpadded(bytes: Buffer): Opening {
  const short = bytes.readUInt16BE(0);
  const prefixBytes = short === 0 ? LONG_PREFIX_BYTES : SHORT_PREFIX_BYTES;
  const size = short === 0 ? bytes.readUInt32BE(2) : short;
  // A long prefix for a short text would be a second form of the same message.
  const fits = (short !== 0 || size >= LONG_FROM_BYTES) && bytes.length === prefixBytes + paddedLength(size);
  if (!fits) return refuse('padding', 'payload: the padding is not that of its text');
  const text = bytes.subarray(prefixBytes, prefixBytes + size);
  // Not by a TextDecoder, which would drop a byte order mark: what was sealed is what is opened.
  return isUtf8(text) ? { ok: true, plaintext: text.toString('utf8') } : refuse('text', 'payload: the text is not UTF-8');
}

/**
 * The bytes of a text that is base64 in its one spelling, or undefined. Node's decoder skips what it does not know and
 * takes the other alphabet, too; what it skipped is missing from the length, and the last four characters, where spare
 * bits could differ, are compared.
 */
function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  const padding = text.endsWith('==') ? 2 : Number(text.endsWith('='));
  if (text.length % 4 !== 0 || bytes.length !== (text.length / 4) * 3 - padding) return undefined;
  if (text.includes('-') || text.includes('_')) return undefined;
  const last = bytes.length - (3 - padding);
  return bytes.toString('base64', last) === text.slice(-4) ? bytes : undefined;
}
