/** What the driver's result codes mean to an operator: one line that says what is wrong and what to do about it. */
import { Failure } from '../model/index.ts';
import type { FailureCode } from '../model/index.ts';

const MEANINGS: readonly (readonly [prefix: string, code: FailureCode, what: string])[] = [
  ['SQLITE_FULL', 'storage_full', 'the disk is full; free space and start again'],
  ['SQLITE_READONLY', 'storage_readonly', 'the database cannot be written; check owner and mode of the file and its folder'],
  // The file system's own words, from making the file before the driver opens it.
  ['ENOSPC', 'storage_full', 'the disk is full; free space and start again'],
  ['EROFS', 'storage_readonly', 'the file system is read-only'],
  ['EACCES', 'storage_readonly', 'the database cannot be written; check owner and mode of the file and its folder'],
  ['ENOENT', 'storage_readonly', 'the database cannot be opened; check that its folder exists and can be written'],
  ['ENOTDIR', 'storage_readonly', 'the database cannot be opened; check that its folder exists and can be written'],
  ['SQLITE_CANTOPEN', 'storage_readonly', 'the database cannot be opened; check that its folder exists and can be written'],
  ['SQLITE_CORRUPT', 'storage_corrupt', 'the database is damaged; restore it from a copy or move it away'],
  ['SQLITE_NOTADB', 'storage_corrupt', 'the file is not a database; move it away'],
  ['SQLITE_BUSY', 'storage_busy', 'another process holds the database locked'],
  ['SQLITE_LOCKED', 'storage_busy', 'another process holds the database locked'],
];

/** Any error of the driver as a `Failure` that names the file. A `Failure` passes unchanged. */
export function storageFailure(error: unknown, file: string): Failure {
  if (error instanceof Failure) return error;
  const code = driverCode(error);
  const meaning = MEANINGS.find(([prefix]) => code.startsWith(prefix));
  if (meaning === undefined) {
    const detail = error instanceof Error ? error.message : 'unknown error';
    return new Failure('storage_failed', `${file}: ${detail}`, { cause: error });
  }
  const [, failureCode, what] = meaning;
  return new Failure(failureCode, `${file}: ${what}`, { cause: error });
}

function driverCode(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  // Opening a file that cannot be opened carries no code of its own, only SQLite's 14 (SQLITE_CANTOPEN) in the text.
  return code === '' && /: 14"?\)$/.test(error.message) ? 'SQLITE_CANTOPEN' : code;
}
