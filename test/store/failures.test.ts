import { describe, expect, it } from 'vitest';
import { Failure } from '../../src/model/index.ts';
import { storageFailure } from '../../src/store/failures.ts';

function driverError(code: string, message = 'driver words'): Error {
  return Object.assign(new Error(message), { code });
}

describe('storageFailure', () => {
  it.each([
    ['SQLITE_FULL', 'storage_full'], ['SQLITE_READONLY', 'storage_readonly'], ['SQLITE_READONLY_DIRECTORY', 'storage_readonly'],
    ['SQLITE_CANTOPEN', 'storage_readonly'], ['SQLITE_CORRUPT', 'storage_corrupt'], ['SQLITE_CORRUPT_VTAB', 'storage_corrupt'],
    ['SQLITE_NOTADB', 'storage_corrupt'], ['SQLITE_BUSY', 'storage_busy'], ['SQLITE_BUSY_SNAPSHOT', 'storage_busy'],
    ['SQLITE_LOCKED', 'storage_busy'], ['SQLITE_IOERR', 'storage_failed'], ['ENOSPC', 'storage_full'], ['EROFS', 'storage_readonly'], ['EACCES', 'storage_readonly'],
    ['ENOENT', 'storage_readonly'], ['EDQUOT', 'storage_full'], ['', 'storage_failed'],
  ])('%s is %s, names the file and keeps the cause', (driverCode, code) => {
    const cause = driverError(driverCode);
    expect(storageFailure(cause, '/d/skep.db')).toMatchObject({ code, cause, message: expect.stringMatching(/^\/d\/skep\.db: ./) });
  });

  it.each([
    ['SQLITE_IOERR_SHMSIZE', 36_864, 'storage_full'], ['SQLITE_IOERR', 0, 'storage_full'],
    ['SQLITE_IOERR', 1_000_000, 'storage_failed'], ['SQLITE_IOERR', Infinity, 'storage_failed'],
    ['SQLITE_CORRUPT', 0, 'storage_corrupt'],
  ])('%s with %d bytes free is %s: SQLite has no word for a shared memory file that cannot grow', (driverCode, free, code) => {
    expect(storageFailure(driverError(driverCode), '/d/skep.db', () => free)).toMatchObject({ code });
  });

  it('asks the file system of the file', () => {
    // The folder these tests stand in has room.
    expect(storageFailure(driverError('SQLITE_IOERR'), import.meta.filename)).toMatchObject({ code: 'storage_failed' });
  });

  it('passes a failure as it is', () => {
    const failure = new Failure('storage_newer', 'x');
    expect(storageFailure(failure, 'y')).toBe(failure);
  });
});
