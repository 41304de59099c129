/** Opens a thousand sessions of one agent, prompts each, and says how many files are open more than after the first ones. */
import { readdirSync } from 'node:fs';
import { startAgent } from '../../../dist/src/acp/index.js';
import { silentLog } from '../../../dist/src/model/index.js';
import { systemClock } from '../../../dist/src/system/index.js';

const [module] = process.argv.slice(2);
const started = await startAgent({
  plan: { agentName: 'bee', command: process.execPath, args: [module], cwd: '/', env: { PATH: process.env.PATH } },
  dialect: { standing: 'capability', usage: { turn: [], session: [], input: 'with-cache' } },
  version: '0',
  clock: systemClock,
  log: silentLog,
  permission: () => ({ requested() {}, turnCancelled() {}, turnOver() {}, stopping() {}, ended() {} }),
});
if (!started.ok) throw new Error(JSON.stringify(started.end));
const files = () => readdirSync('/proc/self/fd').length;
let sessions = 0;
const open = async () => {
  const { ok, sessionId } = await started.process.newSession({ cwd: '/' });
  if (ok && (await started.process.prompt({ sessionId, blocks: ['go'], idleTimeoutMs: 60_000, hardTimeoutMs: 60_000 })).status !== 'process_ended') sessions += 1;
};
for (let n = 0; n < 10; n += 1) await open();
const before = files();
while (sessions < 1_000) await open();
process.stdout.write(`${sessions} sessions, ${files() - before} more open files\n`);
await started.process.stop();
