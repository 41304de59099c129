/**
 * What NIP-BA measures and cuts in a text: Unicode White_Space, scalar values, UTF-8 bytes and the compact JSON
 * encoding ("Wire and normalization", "Memory"). All in linear time; every text here is well-formed (the reader and
 * the draft both refuse unpaired surrogates first), and nothing here rewrites more than it trims.
 */
import { excerpt } from '../../model/index.ts';

/**
 * Unicode White_Space, which is not what `String.prototype.trim` cuts: U+0085 belongs to it, U+FEFF does not.
 * All of it lies in the Basic Multilingual Plane, so a UTF-16 code unit decides.
 */
function isWhiteSpace(unit: number): boolean {
  if (unit < 0x80) return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
  if (unit >= 0x2000 && unit <= 0x200a) return true;
  return [0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000].includes(unit);
}

/** `text` without the White_Space around it. */
export function trimWhiteSpace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isWhiteSpace(text.charCodeAt(start))) start += 1;
  while (end > start && isWhiteSpace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** True when `text` is empty or White_Space throughout. */
export function isBlank(text: string): boolean {
  return trimWhiteSpace(text) === '';
}

/** The number of Unicode scalar values: an astral character is one, though it is two UTF-16 code units. */
export function scalarCount(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit >= 0xdc00 && unit <= 0xdfff) count -= 1;
  }
  return count;
}

/** The length of `text` in UTF-8 bytes. */
export function utf8Bytes(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

/** Printable ASCII that stands in JSON as it is: ids, hex and words, which are most of what is written. */
const UNQUOTED = /^[ !#-[\]-~]*$/;

/**
 * `text` as compact JSON. ECMAScript's own quoting of a well-formed string is the rule of NIP-BA "Memory" to the
 * letter: `\"` `\\` `\b` `\t` `\n` `\f` `\r`, lowercase `\u00xx` for the other controls, everything else (`/`, DEL,
 * non-ASCII) literal. Throws (a bug) on an unpaired surrogate, which UTF-8 cannot carry.
 */
export function quote(text: string): string {
  if (UNQUOTED.test(text)) return `"${text}"`;
  if (!text.isWellFormed()) throw new TypeError('text: expected no unpaired surrogate');
  return JSON.stringify(text);
}

/**
 * A member name or discriminator as a refusal may show it. A refusal's text goes back over the wire and into logs, so
 * a long text, which could be a key or a credential set in the wrong place, is told by its length alone.
 */
export function shown(text: string): string {
  const length = scalarCount(text);
  return length > 32 ? `<${length} characters>` : excerpt(text);
}
