/** The identity of the relay in the box: made once for each data directory, mode 0600, never shown. */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { diskTrouble, errorCode, Failure } from './model/index.ts';
import type { Random } from './model/index.ts';
import { newSecretKey, parseSecretKey } from './nostr/index.ts';

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

/** Written beside and renamed: a full disk, or the end of the power, leaves a whole key or none. */
function make(path: string, random: Random): Uint8Array {
  const { secretKey } = newSecretKey(random);
  const fresh = `${path}.${process.pid}`;
  try {
    // One that a killed process with our pid has left.
    rmSync(fresh, { force: true });
    const descriptor = openSync(fresh, 'wx', 0o600);
    try {
      writeFileSync(descriptor, `${Buffer.from(secretKey).toString('hex')}\n`);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(fresh, path);
    return secretKey;
  } catch (error) {
    rmSync(fresh, { force: true });
    const { code, what } = diskTrouble(error)
      ?? { code: 'storage_failed' as const, what: `cannot be written (${errorCode(error)})` };
    throw new Failure(code, `${path}: ${what}`, { cause: error });
  }
}
