/**
 * NIP-AE engrams: an agent's memory, one kind 30174 event for each record, readable by the agent and its owner. This
 * file knows the slug's grammar, the address (`d` tag), and the body, written exactly and read strictly; encryption is
 * `nip44.ts`, which record counts is decided where events are read.
 */
import { createHmac } from 'node:crypto';
import { refuse } from '../model/index.ts';
import type { Refusal } from '../model/index.ts';
import { jsonMembers } from './json-members.ts';
import type { ConversationKey } from './nip44.ts';

export const ENGRAM_KIND = 30_174;
/** UTF-8 bytes of a body (NIP-BA "Memory"). A larger one is neither written nor read. */
export const ENGRAM_MAX_BYTES = 65_535;

const CORE = 'core';
const SLUG = /^(?:core|mem\/[a-z0-9][a-z0-9_-]{0,63}(?:\/[a-z0-9][a-z0-9_-]{0,63})*)$/;
const SLUG_MAX_BYTES = 255;

export function isEngramSlug(text: string): boolean {
  return text.length <= SLUG_MAX_BYTES && SLUG.test(text);
}

/** The `d` tag: it tells the owner's slugs apart and tells nobody else which they are. */
export function engramAddress(key: ConversationKey, slug: string): string {
  return createHmac('sha256', key).update(`agent-memory/v1/d-tag\0${slug}`).digest('hex');
}

/**
 * The plaintext of a record, in the one form whose size NIP-BA bounds. ECMAScript quotes a well-formed string exactly
 * as "Memory" demands; a value that is not well-formed is a bug and throws.
 */
export function engramBody(slug: string, value: string): string {
  if (!value.isWellFormed()) throw new TypeError('value: expected no unpaired surrogate');
  return JSON.stringify(slug === CORE ? { slug, profile: value } : { slug, value });
}

/** `value` is the memory's value or the core's profile; undefined is a tombstone. */
export type EngramReading = { readonly ok: true; readonly value: string | undefined } | Refusal<'engram'>;

/**
 * Reads a body. `isOurSlug` says whether a slug derives to the `d` tag of the event that the body came in: a record is
 * only where its slug says. Members that are not known are ignored, repeated ones are not.
 */
export function readEngramBody(body: string, isOurSlug: (slug: string) => boolean): EngramReading {
  if (Buffer.byteLength(body, 'utf8') > ENGRAM_MAX_BYTES) return invalid(`at most ${ENGRAM_MAX_BYTES} bytes`);
  const parsed = jsonMembers(body);
  if (parsed === undefined) return invalid('a JSON object');
  if (parsed.repeats) return invalid('no member twice');
  const member = (name: string): unknown => {
    const raw = parsed.members.find((candidate) => candidate.name === name)?.raw;
    return raw === undefined ? undefined : JSON.parse(raw);
  };
  const slug = member('slug');
  if (typeof slug !== 'string' || !isEngramSlug(slug)) return invalid('a slug');
  if (!isOurSlug(slug)) return invalid('the slug of its address');
  const value = member(slug === CORE ? 'profile' : 'value');
  // NIP-AE: a null value is a tombstone; a core has none.
  if (value === null && slug !== CORE) return { ok: true, value: undefined };
  if (typeof value !== 'string') return invalid(slug === CORE ? 'a profile' : 'a value');
  return value.isWellFormed() ? { ok: true, value } : invalid('text without unpaired surrogates');
}

/** Names what was expected and nothing of what was found: a body is a secret of two. */
function invalid(expected: string): Refusal<'engram'> {
  return refuse('engram', `engram: expected ${expected}`);
}
