/**
 * Bytes as text, UTF-8 or refused. A replaced character would be another event, with another id; nobody could say why.
 * in: bytes. out: their text, a byte order mark left in it, or the first byte that is wrong.
 */
import { isUtf8 } from 'node:buffer';
import type { FileRefusal } from './refusal.ts';

export type TextDecoded = { readonly ok: true; readonly text: string } | FileRefusal;

const LF = 0x0a;

/** The text of `bytes`. The refusal's path is `byte N`, counted from 0. */
export function decodeText(bytes: Uint8Array): TextDecoded {
  if (isUtf8(bytes)) return { ok: true, text: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8') };
  const at = firstWrongByte(bytes);
  const byte = bytes[at];
  return {
    ok: false,
    line: bytes.subarray(0, at).reduce((lines, unit) => (unit === LF ? lines + 1 : lines), 1),
    path: `byte ${at}`,
    expected: 'UTF-8 text',
    found: byte === undefined ? 'the end within a character' : `0x${byte.toString(16).padStart(2, '0')}`,
  };
}

/** Where a strict decoder stops, by bisection: a prefix is good as long as more bytes could still make it right. */
function firstWrongByte(bytes: Uint8Array): number {
  let [good, bad] = [0, bytes.length + 1];
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (mayGoOn(bytes.subarray(0, middle))) good = middle;
    else bad = middle;
  }
  return good;
}

function mayGoOn(prefix: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(prefix, { stream: true });
    return true;
  } catch {
    return false;
  }
}
