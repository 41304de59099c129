/** The identity of the relay in the box: made once for each data directory, mode 0600, never shown. */
import { readFileSync } from 'node:fs';
import { errorCode, Failure } from './model/index.ts';
import type { Random } from './model/index.ts';
import { newSecretKey, parseSecretKey } from './nostr/index.ts';
import { writePrivateFile } from './store/index.ts';

/**
 * Reads the key file, or makes it. For the holder of the data directory's lock alone. Throws `Failure('config')` for
 * one that holds no key, `storage_*` for the disk.
 */
export function relayKey(path: string, random: Random): Uint8Array {
  const text = read(path);
  if (text === undefined) return make(path, random);
  const parsed = parseSecretKey(text);
  if (!parsed.ok) throw new Failure('config', `${path}: ${parsed.detail}`);
  return parsed.secretKey;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw new Failure('storage_readonly', `${path}: cannot be read (${errorCode(error)})`, { cause: error });
  }
}

function make(path: string, random: Random): Uint8Array {
  const { secretKey } = newSecretKey(random);
  writePrivateFile(path, `${Buffer.from(secretKey).toString('hex')}\n`);
  return secretKey;
}
