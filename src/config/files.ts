/**
 * The small files a config names: keys, attestations, instructions. A problem is told as a sentence without the
 * content. A key file that others can read is refused: the key is theirs, too, by then.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { Stats } from 'node:fs';
import type { Pubkey } from '../model/index.ts';
import { parseSecretKey } from '../nostr/index.ts';
import { keyFileName, shown } from './found.ts';

export type Read<T> = ({ readonly ok: true } & T) | { readonly ok: false; readonly sentence: string };

const MAX_KEY_FILE_BYTES = 4_096;
const OTHERS = 0o077;
const MISSING = 'does not exist';

export function readKeyFile(
  path: string, writtenPath: string,
): Read<{ readonly secretKey: Uint8Array; readonly pubkey: Pubkey }> {
  const read = readSecretFile(path, writtenPath);
  if (!read.ok) return read;
  return parseKeyText(read.text, writtenPath);
}

/** The key in the text of a key file. */
export function parseKeyText(text: string, writtenPath: string): Read<{ readonly secretKey: Uint8Array; readonly pubkey: Pubkey }> {
  const key = parseSecretKey(text);
  return key.ok ? key : no(`${shown(keyFileName(writtenPath))}: ${key.detail}`);
}

/** The text of a file that only its owner may read; what stands in it is for the caller to judge. */
export function readSecretFile(path: string, writtenPath: string): Read<{ readonly text: string }> {
  const label = keyFileName(writtenPath);
  const read = readSmallFile(path, label, MAX_KEY_FILE_BYTES);
  if (!read.ok) return read;
  const open = othersMayRead(read.stats, label);
  return open === undefined ? { ok: true, text: read.text } : no(open);
}

/** Why a secret in that file is none any more, or undefined. */
export function othersMayRead(stats: Stats, label: string): string | undefined {
  const mode = stats.mode & 0o777;
  if ((mode & OTHERS) === 0) return undefined;
  const file = shown(label);
  return `${file} has mode ${mode.toString(8).padStart(4, '0')}, expected 0600: others can read or change it; chmod 600 ${file}`;
}

type ReadText =
  | { readonly ok: true; readonly text: string; readonly stats: Stats }
  /** `reason` follows the file's name, `sentence` holds both. */
  | { readonly ok: false; readonly sentence: string; readonly reason: string; readonly isMissing: boolean };

/** A UTF-8 text without byte order mark and with LF line breaks. `label` is the path as the config writes it. */
export function readSmallFile(path: string, label: string, maxBytes: number): ReadText {
  const unreadable = (reason: string): ReadText => (
    { ok: false, sentence: `found ${shown(label)}, which ${reason}`, reason, isMissing: reason === MISSING }
  );
  let descriptor: number | undefined;
  try {
    // Non-blocking: a named pipe in a file's place would wait for ever.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return unreadable('is not a file');
    if (stats.size > maxBytes) return unreadable(`has ${stats.size} bytes, expected at most ${maxBytes}`);
    const bytes = Buffer.alloc(stats.size);
    const length = readSync(descriptor, bytes);
    // A byte order mark is dropped by the decoder.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, length));
    return { ok: true, text: text.replaceAll('\r\n', '\n'), stats };
  } catch (error) {
    return unreadable(reasonOf(error));
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Why a file cannot be read, as it follows its name. */
export function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return MISSING;
    case 'EACCES':
    case 'EPERM':
      return 'cannot be read by this user';
    case 'EISDIR':
      return 'is a directory';
    case 'ERR_ENCODING_INVALID_ENCODED_DATA':
      return 'is not UTF-8 text';
    default:
      return `cannot be read (${typeof code === 'string' ? code : 'unknown error'})`;
  }
}

function no(sentence: string): { readonly ok: false; readonly sentence: string } {
  return { ok: false, sentence };
}
