/** Starts one program, opens files until none can be opened any more, starts the next, and says how both went. */
import { openSync } from 'node:fs';
import { startAgent } from '../../../dist/src/acp/index.js';
import { silentLog } from '../../../dist/src/model/index.js';
import { systemClock } from '../../../dist/src/system/index.js';

const plan = { agentName: 'bee', command: 'sh', args: ['-c', 'exit 3'], cwd: '/', env: { PATH: process.env.PATH } };
const start = () =>
  startAgent({
    plan,
    dialect: { standing: 'capability', usage: { turn: [], session: [], input: 'with-cache' } },
    version: '0',
    clock: systemClock,
    log: silentLog,
    permission: () => ({ requested() {}, turnCancelled() {}, turnOver() {}, stopping() {}, ended() {} }),
  });

const before = await start();
try {
  for (;;) openSync('/dev/null');
} catch {
  const at = await start();
  process.stdout.write(`${before.end.how}, then ${at.end.detail}\n`);
}
