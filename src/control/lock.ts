/**
 * One supervisor a data directory. The lock is an exclusive SQLite transaction that is never committed: the system
 * drops it with the process, however that ends, so there is no stale lock to clean up and no pid to guess from. The pid
 * file beside it is for people and for the message of the one who comes second.
 */
import Database from 'libsql';
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { DISK_FULL, diskTrouble, errorCode, Failure } from '../model/index.ts';
import type { DiskTrouble } from '../model/index.ts';
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
    makeDirectory(directory);
    if (!statSync(directory).isDirectory()) throw new Failure('storage_failed', `${directory}: is not a directory`);
  } catch (error) {
    throw error instanceof Failure ? error : directoryFailure(directory, error);
  }
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

/** With what is above it. By hand: on a read-only mount Node's own `recursive` says that nothing is there. */
function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return;
    if (errorCode(error) !== 'ENOENT') throw error;
    makeDirectory(dirname(path));
    mkdirSync(path, { mode: 0o700 });
  }
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
  try {
    writeFileSync(fresh, `${process.pid}\n`, { mode: 0o600 });
    renameSync(fresh, path);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
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

/** What only SQLite says; the rest is the file system's. */
const MEANINGS: Readonly<Record<string, DiskTrouble>> = {
  EEXIST: { code: 'storage_failed', what: 'is not a directory' },
  SQLITE_FULL: DISK_FULL,
  SQLITE_READONLY: { code: 'storage_readonly', what: 'cannot be written; check owner and mode' },
  SQLITE_CANTOPEN: { code: 'storage_readonly', what: 'cannot be written; check owner and mode' },
  SQLITE_NOTADB: { code: 'storage_corrupt', what: 'its lock.db is not a lock of skep; move it away' },
  SQLITE_CORRUPT: { code: 'storage_corrupt', what: 'its lock.db is damaged; remove it' },
};

function directoryFailure(directory: string, error: unknown): Failure {
  const driverCode = codeOf(error);
  const { code, what } = diskTrouble(error) ?? MEANINGS[driverCode]
    ?? { code: 'storage_failed' as const, what: `cannot be used (${driverCode})` };
  return new Failure(code, `${directory}: ${what}`, { cause: error });
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const code = errorCode(error);
  // libsql gives a file that cannot be opened no code of its own, only SQLite's 14 in the text.
  if (code === '' && /: 14"?\)$/.test(error.message)) return 'SQLITE_CANTOPEN';
  return code === '' ? error.name : code;
}
