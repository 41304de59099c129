/** What the driver's result codes mean to an operator: one line that says what is wrong and what to do about it. */
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { DISK_FULL, diskTrouble, errorCode, Failure } from '../model/index.ts';
import type { DiskTrouble } from '../model/index.ts';

const CANNOT_OPEN: DiskTrouble = {
  code: 'storage_readonly', what: 'the database cannot be opened; check that its folder exists and can be written',
};
const CANNOT_WRITE: DiskTrouble = {
  code: 'storage_readonly', what: 'the database cannot be written; check owner and mode of the file and its folder',
};
const LOCKED: DiskTrouble = { code: 'storage_busy', what: 'another process holds the database locked' };

/** By prefix, before the file system's own codes: those come from making the file before the driver opens it. */
const MEANINGS: readonly (readonly [prefix: string, trouble: DiskTrouble])[] = [
  ['SQLITE_FULL', DISK_FULL],
  ['SQLITE_READONLY', CANNOT_WRITE],
  ['EACCES', CANNOT_WRITE],
  ['ENOENT', CANNOT_OPEN],
  ['ENOTDIR', CANNOT_OPEN],
  ['SQLITE_CANTOPEN', CANNOT_OPEN],
  ['SQLITE_CORRUPT', { code: 'storage_corrupt', what: 'the database is damaged; restore it from a copy or move it away' }],
  ['SQLITE_NOTADB', { code: 'storage_corrupt', what: 'the file is not a database; move it away' }],
  ['SQLITE_BUSY', LOCKED],
  ['SQLITE_LOCKED', LOCKED],
];

/**
 * With less than this free, SQLite's shared memory file (32 KiB and its neighbours) cannot grow, and SQLite calls that
 * an I/O error.
 */
const SCARCE_BYTES = 65_536;

/**
 * Any error of the driver as a `Failure` that names the file. A `Failure` passes unchanged. `freeBytes` is what the
 * file system of the file has left.
 */
export function storageFailure(error: unknown, file: string, freeBytes: (file: string) => number = freeBytesAt): Failure {
  if (error instanceof Failure) return error;
  const code = driverCode(error);
  const trouble = code.startsWith('SQLITE_IOERR') && freeBytes(file) < SCARCE_BYTES
    ? DISK_FULL
    : MEANINGS.find(([prefix]) => code.startsWith(prefix))?.[1] ?? diskTrouble(error);
  if (trouble === undefined) {
    const detail = error instanceof Error ? error.message : 'unknown error';
    return new Failure('storage_failed', `${file}: ${detail}`, { cause: error });
  }
  return new Failure(trouble.code, `${file}: ${trouble.what}`, { cause: error });
}

/** Infinite where it cannot be told. */
function freeBytesAt(file: string): number {
  try {
    const { bavail, bsize } = statfsSync(dirname(file));
    return bavail * bsize;
  } catch {
    return Infinity;
  }
}

function driverCode(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const code = errorCode(error);
  // Opening a file that cannot be opened carries no code of its own, only SQLite's 14 (SQLITE_CANTOPEN) in the text.
  return code === '' && /: 14"?\)$/.test(error.message) ? 'SQLITE_CANTOPEN' : code;
}
