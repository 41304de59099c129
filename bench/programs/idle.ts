/** The subject of M1: a supervisor that has connected and started its agents and then has nothing to do. */
import { loadConfig } from '../../src/config/index.ts';
import { silentLog } from '../../src/model/index.ts';
import { start } from '../../src/root.ts';
import { steadyClock, systemClock, systemRandom } from '../../src/system/index.ts';

const config = loadConfig(process.argv[2] ?? '');
const running = await start(config, {
  clock: systemClock, steadyClock, random: systemRandom, log: silentLog, version: '0', nodePath: process.execPath, environment: process.env,
});
const isIdle = (): boolean => running.snapshot().agents.every((agent) =>
  agent.upstream.channels.length === 1 && agent.processes.every((process) => process.state === 'idle'));
while (!isIdle()) await new Promise((resolve) => { setTimeout(resolve, 20); });
globalThis.gc?.();
process.stdout.write(String(process.memoryUsage.rss()));
await running.close(0);
