/** The start of a supervisor in little: ends what is on record in a database as left behind. */
import { reapLeftovers } from '../../../dist/src/acp/index.js';
import { silentLog } from '../../../dist/src/model/index.js';
import { openSqlite, SUPERVISOR_SCHEMA } from '../../../dist/src/store/index.js';
import { systemClock } from '../../../dist/src/system/index.js';

const store = openSqlite(process.argv[2], SUPERVISOR_SCHEMA);
await reapLeftovers({ store, clock: systemClock, log: silentLog });
await store.close();
