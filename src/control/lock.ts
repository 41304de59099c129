/**
 * One supervisor a data directory. The lock is an exclusive SQLite transaction that is never committed: the system
 * drops it with the process, however that ends, so there is no stale lock to clean up and no pid to guess from. The pid
 * file beside it is for people and for the message of the one who comes second.
 */
import Database from 'libsql';
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { Failure } from '../model/index.ts';
import type { FailureCode } from '../model/index.ts';
import { lockPathOf, pidPathOf } from './paths.ts';

export interface DirectoryLock {
  /** Gives the directory back. Releasing twice is releasing once. */
  release(): void;
}

/**
 * Makes the directory (mode 0700) where there is none, and takes it for this process. Throws `Failure('in_use')` naming
 * the pid that holds it, or a storage failure that names what cannot be written.
 */
export function lockDataDirectory(directory: string): DirectoryLock {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw directoryFailure(directory, error);
  }
  if (!statSync(directory).isDirectory()) throw new Failure('storage_failed', `${directory}: is not a directory`);
  const database = openLock(directory);
  try {
    writePid(directory);
  } catch (error) {
    database.close();
    throw directoryFailure(directory, error);
  }
  let held = true;
  return {
    release: () => {
      if (!held) return;
      held = false;
      rmSync(pidPathOf(directory), { force: true });
      database.close();
    },
  };
}

function openLock(directory: string): Database.Database {
  const path = lockPathOf(directory);
  let database: Database.Database | undefined;
  try {
    createPrivate(path);
    // No waiting: whoever holds the lock holds it for its life.
    database = new Database(path, { timeout: 0 });
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database?.close();
    if (codeOf(error).startsWith('SQLITE_BUSY')) throw inUse(directory);
    throw directoryFailure(directory, error);
  }
}

/**
 * SQLite would make it readable for everybody, and whoever reads it can hold the lock up. A file that exists is not
 * opened: closing it again would drop a lock that this process has on it.
 */
function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

function inUse(directory: string): Failure {
  const pid = readPid(directory);
  const holder = pid === undefined ? 'another skep' : `process ${pid}`;
  return new Failure('in_use', `${directory}: ${holder} holds this data directory; stop it first, or use another`);
}

/** Written beside and renamed, so that a reader finds a whole number or none. */
function writePid(directory: string): void {
  const path = pidPathOf(directory);
  const fresh = `${path}.${process.pid}`;
  writeFileSync(fresh, `${process.pid}\n`, { mode: 0o600 });
  renameSync(fresh, path);
}

/** The pid in the file when that process is alive: the holder of a moment ago may have left its number behind. */
function readPid(directory: string): number | undefined {
  try {
    const pid = Number(readFileSync(pidPathOf(directory), 'utf8').trim());
    if (!Number.isSafeInteger(pid) || pid < 1) return undefined;
    process.kill(pid, 0);
    return pid;
  } catch (error) {
    return codeOf(error) === 'EPERM' ? Number(readFileSync(pidPathOf(directory), 'utf8').trim()) : undefined;
  }
}

const MEANINGS: Readonly<Record<string, readonly [FailureCode, string]>> = {
  EACCES: ['storage_readonly', 'cannot be written; check owner and mode'],
  EPERM: ['storage_readonly', 'cannot be written; check owner and mode'],
  EROFS: ['storage_readonly', 'is on a read-only file system'],
  ENOSPC: ['storage_full', 'the disk is full; free space and start again'],
  EDQUOT: ['storage_full', 'the disk quota is used up; free space and start again'],
  EEXIST: ['storage_failed', 'is not a directory'],
  ENOTDIR: ['storage_failed', 'a part of this path is not a directory'],
  SQLITE_FULL: ['storage_full', 'the disk is full; free space and start again'],
  SQLITE_READONLY: ['storage_readonly', 'cannot be written; check owner and mode'],
  SQLITE_CANTOPEN: ['storage_readonly', 'cannot be written; check owner and mode'],
  SQLITE_NOTADB: ['storage_corrupt', 'its lock.db is not a lock of skep; move it away'],
  SQLITE_CORRUPT: ['storage_corrupt', 'its lock.db is damaged; remove it'],
};

function directoryFailure(directory: string, error: unknown): Failure {
  const code = codeOf(error);
  const [failure, what] = MEANINGS[code] ?? ['storage_failed' as const, `cannot be used (${code})`];
  return new Failure(failure, `${directory}: ${what}`, { cause: error });
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  // libsql gives a file that cannot be opened no code of its own, only SQLite's 14 in the text.
  if (code === '' && /: 14"?\)$/.test(error.message)) return 'SQLITE_CANTOPEN';
  return code === '' ? error.name : code;
}
