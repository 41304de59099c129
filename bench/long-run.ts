/**
 * Turn after turn on one scripted agent, some at a time, each the whole road from the relay's event to the answer on the
 * relay; and what the supervisor holds on to meanwhile, looked at between turns when none is under way.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { loadConfig } from '../src/config/index.ts';
import { silentLog } from '../src/model/index.ts';
import { start } from '../src/root.ts';
import { steadyClock, systemClock, systemRandom } from '../src/system/index.ts';
import { openFakeRelay } from './fake-relay.ts';
import { makeHouse } from './house.ts';

export interface LongRunSize {
  readonly turns: number;
  /** Looks, evenly spread, besides the one before the first turn. */
  readonly looks: number;
  /** Processes, and so turns at a time; each has a channel of its own. */
  readonly processes: number;
}

export interface Look {
  readonly turns: number;
  /** After a collection where one can be asked for. */
  readonly heapMb: number;
  /** What keeps the event loop alive: sockets, pipes, processes, timers. */
  readonly handles: number;
  /** Open files of this process; 0 where the system does not tell. */
  readonly files: number;
  /** Resident memory of the agent's processes together; 0 where the system does not tell. */
  readonly agentMb: number;
}

export interface LongRunReport {
  readonly looks: readonly Look[];
  /** How turns ended, and how many did. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly tookMs: number;
}

export async function runLong({ turns, looks, processes }: LongRunSize): Promise<LongRunReport> {
  const channels = Array.from({ length: processes }, (_, index) => `11111111-2222-4333-8444-${String(index).padStart(12, '0')}`);
  const options = { channels, agent: [`processes: ${processes}`, 'mcp: false', 'mid-turn: queue'] };
  const plan = makeHouse(1, 'ws://127.0.0.1:1', options);
  const relay = await openFakeRelay(plan.stored, { keeps: false });
  const house = makeHouse(1, relay.url, options);
  const outcomes: Record<string, number> = {};
  const pids = new Set<number>();
  let goOn: (() => void) | undefined;
  const running = await start(loadConfig(house.configFile), {
    clock: systemClock, steadyClock, random: systemRandom, log: silentLog, version: '0', nodePath: process.execPath, environment: process.env,
    observe(note) {
      if (note.type === 'process_started') pids.add(note.pid);
      if (note.type !== 'turn_ended') return;
      outcomes[note.outcome] = (outcomes[note.outcome] ?? 0) + 1;
      goOn?.();
    },
  });
  const ended = (): number => Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise<void>((resolve) => { goOn = resolve; });
  };
  const look = (): Look => ({ turns: ended(), ...held(), agentMb: [...pids].reduce((sum, pid) => sum + residentMb(pid), 0) });
  try {
    const isReady = (): boolean => running.snapshot().agents.every((agent) => agent.processes.every(({ state }) => state === 'idle'))
      && channels.every((channel) => relay.hearers(house.message('', { channel })) === 1);
    while (!isReady()) await new Promise((resolve) => { setTimeout(resolve, 20); });
    const seen: Look[] = [look()];
    const startedAt = performance.now();
    for (let part = 1, sent = 0; part <= looks; part += 1) {
      for (const end = Math.round((turns * part) / looks); sent < end; sent += 1) {
        await until(() => sent - ended() < processes);
        relay.send(house.message(`turn ${sent}: how is the garden?`, { channel: channels[sent % processes] ?? '' }));
      }
      await until(() => ended() === sent);
      seen.push(look());
    }
    return { looks: seen, outcomes, tookMs: performance.now() - startedAt };
  } finally {
    await running.close(0);
    await relay.close();
    house.remove();
    plan.remove();
  }
}

function held(): Pick<Look, 'heapMb' | 'handles' | 'files'> {
  globalThis.gc?.();
  return { heapMb: process.memoryUsage().heapUsed / 1_048_576, handles: process.getActiveResourcesInfo().length, files: openFiles() };
}

function openFiles(): number {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return 0;
  }
}

function residentMb(pid: number): number {
  try {
    return Number(/^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
