/** Runs `actions` no-op actions, `width` at once, on a new database in `directory`: what J2 counts the syncs of. */
import { join } from 'node:path';
import { openSqlite, SUPERVISOR_SCHEMA } from '../../src/store/index.ts';
import { inGroups, journalOn } from '../journaled.ts';

const [directory = '.', actions = '0', width = '1'] = process.argv.slice(2);
const store = openSqlite(join(directory, `counted-${actions}-${width}.db`), SUPERVISOR_SCHEMA);
await inGroups(journalOn(store), Number(actions), Number(width));
await store.close();
