/** A supervisor in little, from the compiled sources: starts one agent on record, prompts it, waits to be killed. */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startAgent } from '../../../dist/src/acp/index.js';
import { silentLog } from '../../../dist/src/model/index.js';
import { openSqlite, SUPERVISOR_SCHEMA } from '../../../dist/src/store/index.js';
import { systemClock } from '../../../dist/src/system/index.js';

const [file, launch] = process.argv.slice(2);
const plan = JSON.parse(launch);
const store = openSqlite(file, SUPERVISOR_SCHEMA);
const started = await startAgent({
  plan,
  store,
  dialect: { standing: 'capability', usage: { turn: [], session: [], input: 'with-cache' } },
  version: '0',
  clock: systemClock,
  log: silentLog,
  permission: () => ({ requested() {}, turnCancelled() {}, turnOver() {}, stopping() {}, ended() {} }),
});
const { sessionId } = await started.process.newSession({ cwd: plan.cwd });
void started.process.prompt({ sessionId, blocks: ['go'], idleTimeoutMs: 600_000, hardTimeoutMs: 600_000 });
writeFileSync(join(plan.cwd, 'agent.part'), String(started.process.pid));
renameSync(join(plan.cwd, 'agent.part'), join(plan.cwd, 'agent'));
