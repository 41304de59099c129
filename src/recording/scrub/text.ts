/**
 * Text as stand-in text of the same shape: as many scalars, each of its class and UTF-8 length, so that whatever the
 * compiler decides by a text it decides alike. White space, controls, bidi marks, lone surrogates, punctuation and
 * markup stay; letters, digits and pictures are replaced, and ids and keys by their stand-ins.
 * The same word is the same stand-in throughout one scrubbing.
 */
import { classOf } from './classes.ts';
import { WORD } from './words.ts';
import type { Words } from './words.ts';

/** Stand-ins for what may stand in a text and is more than a word; each as long as what it stands for. */
export interface Ids {
  /** Lowercase hex of 64 characters, or, of another length, with its letters and digits in their places. */
  readonly hex: (hex: string) => string;
  /** A lowercase UUID. */
  readonly uuid: (uuid: string) => string;
  /** An npub, when it is one. */
  readonly npub: (npub: string) => string | undefined;
}

const UUID = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';
// A key or an id, or what has digits and letters and no other sense.
const HEX = '[0-9a-fA-F]{64}|(?=[0-9]*[a-fA-F])(?=[a-fA-F]*[0-9])[0-9a-fA-F]{32,}';
const NPUB = 'npub1[02-9ac-hj-np-z]{58}';
const NOT_INSIDE = '(?<![0-9A-Za-z])';
const NOT_ON = '(?![0-9A-Za-z])';
const PIECES = new RegExp(
  `${NOT_INSIDE}(?:(?<uuid>${UUID})|(?<hex>(?:${HEX}))|(?<npub>${NPUB}))${NOT_ON}|(?<word>${WORD})|(?<other>[^])`, 'gu',
);

export function scrubText(text: string, words: Words, ids: Ids): string {
  let scrubbed = '';
  for (const { groups = {}, 0: piece } of text.matchAll(PIECES)) {
    if (groups['word'] !== undefined) scrubbed += words.standIn(piece);
    else if (groups['other'] !== undefined) scrubbed += classOf(piece)?.letters[0] ?? piece;
    else if (groups['uuid'] !== undefined) scrubbed += likeCase(piece, ids.uuid);
    else if (groups['hex'] !== undefined) scrubbed += likeCase(piece, ids.hex);
    else scrubbed += ids.npub(piece) ?? words.standIn(piece);
  }
  return scrubbed;
}

/** Hex in the case it was written in: letters where it had a capital stay capital. */
function likeCase(written: string, standIn: (lower: string) => string): string {
  const lower = standIn(written.toLowerCase());
  if (!/[A-F]/.test(written)) return lower;
  if (!/[a-f]/.test(written)) return lower.toUpperCase();
  return Array.from(lower, (character, index) => (/[A-F]/.test(written.charAt(index)) ? character.toUpperCase() : character)).join('');
}
