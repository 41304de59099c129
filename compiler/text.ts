/// <reference lib="es2024.string" />
/**
 * Text as the compiler measures and cuts it: well-formedness, Unicode white space, scalars.
 * in: any JavaScript string. out: well-formed strings and counts of scalars.
 * Rules: "Text rules" of the rendering rules, version 1 (docs/compiler.md).
 * Never: normalises (NFC and NFD stay as they came), consults a locale, uses `trim` or `length` as a measure of text.
 */

/** `text` with every lone surrogate replaced by U+FFFD. */
export function wellFormed(text: string): string {
  return text.toWellFormed();
}

/** Whether a UTF-16 code unit is Unicode White_Space (all 25 are in the BMP). `trim` lacks U+0085 and adds U+FEFF. */
function isWhiteSpace(unit: number): boolean {
  return unit <= 0xa0
    ? unit === 0x20 || (unit >= 0x09 && unit <= 0x0d) || unit === 0x85 || unit === 0xa0
    : unit === 0x1680 || (unit >= 0x2000 && unit <= 0x200a) || unit === 0x2028 || unit === 0x2029 ||
      unit === 0x202f || unit === 0x205f || unit === 0x3000;
}

function isLineBreak(unit: number): boolean {
  return unit === 0x0a || unit === 0x0d;
}

type UnitTest = (unit: number) => boolean;

// Loops and not `/\s+$/`: that pattern takes quadratic time on long runs of white space inside the text.
function startAfter(text: string, skips: UnitTest): number {
  let start = 0;
  while (start < text.length && skips(text.charCodeAt(start))) start += 1;
  return start;
}

function endBefore(text: string, skips: UnitTest): number {
  let end = text.length;
  while (end > 0 && skips(text.charCodeAt(end - 1))) end -= 1;
  return end;
}

/** `text` without white space at either end. */
export function trim(text: string): string {
  return text.slice(startAfter(text, isWhiteSpace), endBefore(text, isWhiteSpace));
}

/** `text` without white space at its end. */
export function trimEnd(text: string): string {
  return text.slice(0, endBefore(text, isWhiteSpace));
}

/** `text` without LF and CR at either end; other white space stays. */
export function trimLineBreaks(text: string): string {
  return text.slice(startAfter(text, isLineBreak), endBefore(text, isLineBreak));
}

/** Whether `text` is empty or nothing but white space. */
export function isBlank(text: string): boolean {
  return startAfter(text, isWhiteSpace) === text.length;
}

const BEYOND_LATIN_1 = /[\u0100-\uffff]/;
const NO_SURROGATES = /[^\ud800-\udfff]+/g;

/** How many scalars well-formed `text` holds: a surrogate pair counts once. */
export function countScalars(text: string): number {
  // Native scans: a loop over the code units costs more than the hash of the same text. The first look answers at
  // once for text that the engine keeps in one byte a character, which is most.
  if (!BEYOND_LATIN_1.test(text)) return text.length;
  return text.length - text.replace(NO_SURROGATES, '').length / 2;
}

/** The first `maxScalars` scalars of well-formed `text`; the whole of it if it has no more. */
export function firstScalars(text: string, maxScalars: number): string {
  if (text.length <= maxScalars) return text;
  let end = 0;
  for (let count = 0; count < maxScalars && end < text.length; count += 1) {
    end += (text.charCodeAt(end) & 0xfc00) === 0xd800 ? 2 : 1;
  }
  return text.slice(0, end);
}
