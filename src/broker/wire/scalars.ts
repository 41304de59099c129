/**
 * The scalar types of NIP-BA ("Wire and normalization", the table of types) as fields: what is accepted, and the
 * canonical form that comes out. Nothing here trims: `argument` holds the trimmed forms that requests take, outcomes
 * take the plain ones.
 */
import { asChannelId, asEventId, asPubkey } from '../../model/index.ts';
import type { ChannelId, EventId, Pubkey } from '../../model/index.ts';
import { isEngramSlug, isXOnly } from '../../nostr/index.ts';
import { accept, describe, mismatch } from './field.ts';
import type { Field } from './field.ts';
import {
  ABOUT_MAX_SCALARS,
  CONTENT_MAX_BYTES,
  CURSOR_MAX_BYTES,
  NAME_MAX_SCALARS,
  PROMPT_MAX_SCALARS,
  REACTION_MAX_SCALARS,
  REQUEST_ID_MAX_BYTES,
  SCALAR_MAX_SCALARS,
} from './limits.ts';
import { isBlank, quote, scalarCount, trimWhiteSpace, utf8Bytes } from './text.ts';

/** A string for which `parse` finds a canonical form. */
function textField<T extends string>(expected: string, parse: (text: string) => T | undefined): Field<T> {
  return {
    read(value, path) {
      const parsed = value.type === 'string' ? parse(value.text) : undefined;
      return parsed === undefined ? mismatch(path, describe(value), expected) : accept(parsed);
    },
    write: quote,
  };
}

function matching(pattern: RegExp, expected: string): Field<string> {
  return textField(expected, (text) => (pattern.test(text) ? text : undefined));
}

/** Nonempty and at most `max` scalars. */
function bounded(max: number): Field<string> {
  return textField(`a nonempty string of at most ${max} characters`, (text) =>
    !isBlank(text) && scalarCount(text) <= max ? text : undefined,
  );
}

/** Kept to the byte, but not blank. `maxBytes` in UTF-8. */
function opaque(maxBytes: number): Field<string> {
  return textField(`a string of at most ${maxBytes} bytes that is not blank`, (text) =>
    !isBlank(text) && utf8Bytes(text) <= maxBytes ? text : undefined,
  );
}

const HYPHENATED = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';
const CHANNEL = new RegExp(`^(?:${HYPHENATED}|[0-9a-fA-F]{32}|\\{${HYPHENATED}\\}|urn:uuid:${HYPHENATED})$`);
const GROUPS = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;

function parseChannel(text: string): ChannelId | undefined {
  // Almost every one is in its output form already.
  const canonical = asChannelId(text);
  if (canonical !== undefined) return canonical;
  if (!CHANNEL.test(text)) return undefined;
  const digits = text.replace('urn:uuid:', '').replace(/[{}-]/g, '').toLowerCase();
  return asChannelId(digits.replace(GROUPS, '$1-$2-$3-$4-$5'));
}

function parsePubkey(text: string): Pubkey | undefined {
  const parsed = asPubkey(text.toLowerCase());
  return parsed !== undefined && isXOnly(Buffer.from(parsed, 'hex')) ? parsed : undefined;
}

function lowerHex(text: string): string | undefined {
  return asEventId(text.toLowerCase());
}

export const string: Field<string> = textField('a string', (text) => text);
export const channel: Field<ChannelId> = textField('a UUID', parseChannel);
export const eventId: Field<EventId> = textField('64 hex characters', (text) => asEventId(text.toLowerCase()));
export const hex: Field<string> = textField('64 hex characters', lowerHex);
export const pubkey: Field<Pubkey> = textField('64 hex characters of a valid x-only public key', parsePubkey);
/** The spec's Name, as an outcome reports it. */
export const name = bounded(NAME_MAX_SCALARS);

// Signed members stay as they were signed: NIP-01 knows lowercase alone, and nothing is rewritten.
export const signedId: Field<EventId> = textField('64 lowercase hex characters', asEventId);
export const signedPubkey: Field<Pubkey> = textField('64 lowercase hex characters', asPubkey);
export const signature = matching(/^[0-9a-f]{128}$/, '128 lowercase hex characters');

// Never trimmed: requestId and cursors verbatim, content and payloads to the byte.
export const requestId = matching(
  new RegExp(`^[\\x21-\\x7e]{1,${REQUEST_ID_MAX_BYTES}}$`),
  `1 to ${REQUEST_ID_MAX_BYTES} bytes from 0x21 to 0x7e`,
);
export const cursor = matching(
  new RegExp(`^[\\x21-\\x7e]{1,${CURSOR_MAX_BYTES}}$`),
  `1 to ${CURSOR_MAX_BYTES} bytes from 0x21 to 0x7e`,
);
export const content = opaque(CONTENT_MAX_BYTES);
export { opaque };

const slug: Field<string> = textField('core or a mem/ path of at most 255 bytes', (text) =>
  isEngramSlug(text) ? text : undefined,
);

/** `field` after the surrounding White_Space is gone; the limits apply to what is left. */
function trimmed<T>(field: Field<T>): Field<T> {
  return {
    read: (value, path) =>
      field.read(value.type === 'string' ? { type: 'string', text: trimWhiteSpace(value.text) } : value, path),
    write: (value) => field.write(value),
  };
}

/** The types of the "Exact args" column. */
export const argument = {
  channel: trimmed(channel),
  eventId: trimmed(eventId),
  pubkey: trimmed(pubkey),
  slug: trimmed(slug),
  name: trimmed(name),
  about: trimmed(bounded(ABOUT_MAX_SCALARS)),
  prompt: trimmed(bounded(PROMPT_MAX_SCALARS)),
  reaction: trimmed(bounded(REACTION_MAX_SCALARS)),
  scalar: trimmed(bounded(SCALAR_MAX_SCALARS)),
} as const;

/** One of `words`, exactly as it stands: wire discriminators are not trimmed. */
export function oneOf<const Word extends string>(...words: readonly Word[]): Field<Word> {
  const field = textField(words.join(' | '), (text) => words.find((word) => word === text));
  const quoted = new Map(words.map((word) => [word, quote(word)]));
  return { read: (value, path) => field.read(value, path), write: (word) => quoted.get(word) ?? quote(word) };
}

// Integer syntax only: no sign, fraction, exponent or leading zero. 20 digits hold every u64.
const INTEGER = /^(?:0|[1-9][0-9]{0,19})$/;

function integer(lexeme: string, min: bigint, max: bigint): bigint | undefined {
  const value = INTEGER.test(lexeme) ? BigInt(lexeme) : undefined;
  return value !== undefined && value >= min && value <= max ? value : undefined;
}

function decimal(value: bigint, min: bigint, max: bigint): string {
  if (value < min || value > max) throw new RangeError(`integer: found ${value}, expected ${min} to ${max}`);
  return value.toString();
}

/** An integer of at most 32 bits, `min` to `max`. */
export function unsigned(min: number, max: number): Field<number> {
  return {
    read(value, path) {
      // 20 digits are beyond what a JavaScript number holds, and then beyond 32 bits by far.
      const parsed = value.type === 'number' && INTEGER.test(value.lexeme) ? Number(value.lexeme) : NaN;
      return parsed >= min && parsed <= max ? accept(parsed) : mismatch(path, describe(value), `an integer ${min} to ${max}`);
    },
    write(value) {
      if (Number.isInteger(value) && value >= min && value <= max) return String(value);
      throw new RangeError(`integer: found ${value}, expected ${min} to ${max}`);
    },
  };
}

export const u16 = unsigned(0, 0xffff);
export const u32 = unsigned(0, 0xffff_ffff);

const U64_MAX = 0xffff_ffff_ffff_ffffn;
/** A bigint, because a JavaScript number loses u64 values beyond 2^53. */
export const u64: Field<bigint> = {
  read(value, path) {
    const parsed = value.type === 'number' ? integer(value.lexeme, 0n, U64_MAX) : undefined;
    return parsed === undefined ? mismatch(path, describe(value), 'an integer 0 to 2^64-1') : accept(parsed);
  },
  write: (value) => decimal(value, 0n, U64_MAX),
};

export const boolean: Field<boolean> = {
  read: (value, path) =>
    value.type === 'boolean' ? accept(value.value) : mismatch(path, describe(value), 'true or false'),
  write: String,
};
