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
    ['ENOENT', 'storage_readonly'], ['', 'storage_failed'],
  ])('%s is %s, names the file and keeps the cause', (driverCode, code) => {
    const cause = driverError(driverCode);
    expect(storageFailure(cause, '/d/skep.db')).toMatchObject({ code, cause, message: expect.stringMatching(/^\/d\/skep\.db: ./) });
  });

  it('passes a failure as it is', () => {
    const failure = new Failure('storage_newer', 'x');
    expect(storageFailure(failure, 'y')).toBe(failure);
  });
});
