/**
 * A small file for its owner alone, such as a key: whole or not there, whatever happens while it is written, and on
 * disk when the call returns.
 */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { diskTrouble, errorCode, Failure } from '../model/index.ts';

/** Written beside and renamed, mode 0600. Throws `Failure` (`storage_*`) that names the file and not the text. */
export function writePrivateFile(path: string, text: string): void {
  const fresh = `${path}.${process.pid}`;
  try {
    // One that a killed process with our pid has left.
    rmSync(fresh, { force: true });
    const descriptor = openSync(fresh, 'wx', 0o600);
    try {
      writeFileSync(descriptor, text);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(fresh, path);
    syncDirectory(dirname(path));
  } catch (error) {
    rmSync(fresh, { force: true });
    const { code, what } = diskTrouble(error)
      ?? { code: 'storage_failed' as const, what: `cannot be written (${errorCode(error)})` };
    throw new Failure(code, `${path}: ${what}`, { cause: error });
  }
}

/** Without it the name may be gone after a power cut, though the bytes are there. */
function syncDirectory(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
