/** The journal's real store on a real disk, in a directory that is removed with the test file. */
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openSqlite, SUPERVISOR_SCHEMA } from '../../src/store/index.ts';
import type { Store } from '../../src/store/index.ts';
import { temporaryDirectory } from '../setup/temp.ts';

/** A database file that can be opened again and again; every opening is closed after the test. */
export function storeFile(): () => Store {
  const path = join(temporaryDirectory(), 'skep.db');
  return () => {
    const store = openSqlite(path, SUPERVISOR_SCHEMA);
    onTestFinished(() => store.close());
    return store;
  };
}

export function openStore(): Store {
  return storeFile()();
}
