/** The identity of the relay in the box: made once for each data directory, mode 0600, never shown. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Failure } from './model/index.ts';
import type { Random } from './model/index.ts';
import { parseSecretKey } from './nostr/index.ts';

/** Reads the key file, or makes it. Throws `Failure('config')` for one that holds no key, `storage_*` for the disk. */
export function relayKey(path: string, random: Random): Uint8Array {
  const text = read(path) ?? make(path, random);
  const parsed = parseSecretKey(text);
  if (!parsed.ok) throw new Failure('config', `${path}: ${parsed.detail}`);
  return parsed.secretKey;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new Failure('storage_readonly', `${path}: cannot be read`, { cause: error });
  }
}

function make(path: string, random: Random): string {
  const text = newKey(random);
  try {
    writeFileSync(path, `${text}\n`, { mode: 0o600, flag: 'wx' });
    return text;
  } catch (error) {
    // A full disk leaves an empty file, which would be no key at the next start.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) rmSync(path, { force: true });
    throw new Failure('storage_readonly', `${path}: cannot be written`, { cause: error });
  }
}

/** One draw in 2^128 is no key; then the next one is. */
function newKey(random: Random): string {
  for (;;) {
    const text = Buffer.from(random.bytes(32)).toString('hex');
    if (parseSecretKey(text).ok) return text;
  }
}
