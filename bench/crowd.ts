/**
 * Many agents with many processes in many channels, every event of theirs in the inbox before the first is answered, and
 * then all let go at once: whether each is taken once, in the order of its lane, none behind a turn of another lane that
 * does not end, and no lane or agent long before another. In each agent's first lane is a turn that hangs until all else
 * is done, and one that waits behind it; in its second a flood, a quarter of its events or as many as may wait in a channel,
 * which came before the others.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../src/config/index.ts';
import { silentLog } from '../src/model/index.ts';
import type { VerifiedEvent } from '../src/nostr/index.ts';
import { start } from '../src/root.ts';
import { MAX_PENDING } from '../src/supervisor/inbox/entry.ts';
import { steadyClock, systemClock, systemRandom } from '../src/system/index.ts';
import { CrowdWatch } from './crowd-watch.ts';
import type { Fairness } from './crowd-watch.ts';
import { openFakeRelay } from './fake-relay.ts';
import { makeHouse } from './house.ts';
import type { House } from './house.ts';

export interface CrowdSize {
  readonly agents: number;
  /** Of each agent, at least three. */
  readonly processes: number;
  /** At least three; every agent is in all of them. */
  readonly channels: number;
  readonly events: number;
}

export interface CrowdReport extends Fairness {
  /** Events in the inbox when the first turn was let go. */
  readonly queued: number;
  /** Events that were in no turn, in more than one, or before an older one of their lane. */
  readonly faults: readonly string[];
  /** The most turns at a time. */
  readonly atOnce: number;
  /** When all but the hanging lanes were done: events that had begun no turn. */
  readonly behind: number;
  readonly enqueueMs: number;
  readonly drainMs: number;
  /** Megabytes of heap before the first event, with all queued, and with all done; after a collection where one can be asked for. */
  readonly heapMb: readonly [number, number, number];
}

const HANGS = 'this one hangs';
const RULES = [{ match: HANGS, do: [{ wait: 'late' }, { say: 'at last' }] }, { do: [{ wait: 'go' }, { say: 'yes' }] }];

export async function runCrowd(size: CrowdSize): Promise<CrowdReport> {
  const channels = Array.from({ length: size.channels }, (_, index) => `11111111-2222-4333-8444-${String(index).padStart(12, '0')}`);
  const options = { channels, agent: [`processes: ${size.processes}`, 'mcp: false', 'mid-turn: queue'], rules: RULES };
  const plan = makeHouse(size.agents, 'ws://127.0.0.1:1', options);
  const relay = await openFakeRelay(plan.stored, { keeps: false });
  const house = makeHouse(size.agents, relay.url, options);
  const watch = new CrowdWatch();
  const running = await start(loadConfig(house.configFile), {
    clock: systemClock, steadyClock, random: systemRandom, log: silentLog, version: '0', nodePath: process.execPath, environment: process.env,
    observe: (note) => { watch.see(note); },
  });
  try {
    await followed(() => running.snapshot().agents.every(({ upstream, processes }) =>
      upstream.channels.length === size.channels && processes.filter(({ state }) => state === 'idle').length === size.processes));
    const lanes = house.agents.map((agent) => lanesOf(house, agent, size, channels));
    // The relay forgets what nobody has asked for yet.
    for (const [event] of lanes.flat()) if (event !== undefined) await followed(() => relay.hearers(event) === 1);
    const before = heapMb();
    const startedAt = performance.now();
    for (const event of interleaved(lanes.map((one) => one.flat()))) relay.send(event);
    await watch.until(() => watch.accepted === size.events);
    const queuedAt = performance.now();
    const queued = running.snapshot().agents.reduce((sum, { inbox }) => sum + inbox.queued + inbox.dispatched, 0);
    const full = heapMb();
    writeFileSync(join(house.gates, 'go'), '');
    await watch.until(() => watch.ended === size.events - 2 * size.agents);
    const behind = size.events - watch.begun;
    writeFileSync(join(house.gates, 'late'), '');
    await watch.until(() => watch.ended === size.events);
    return {
      queued, faults: watch.faults(lanes.flat()), atOnce: watch.atOnce, behind, ...watch.fairness(lanes),
      enqueueMs: queuedAt - startedAt, drainMs: performance.now() - queuedAt, heapMb: [before, full, heapMb()],
    };
  } finally {
    await running.close(0);
    await relay.close();
    house.remove();
    plan.remove();
  }
}

/** One agent's events, lane by lane, each in the order in which they are sent. */
function lanesOf(house: House, agent: string, { agents, events }: CrowdSize, [hanging = '', flooded = '', ...rest]: readonly string[]): readonly (readonly VerifiedEvent[])[] {
  const all = events / agents;
  const say = (channel: string, index: number, text = 'how is the garden?'): VerifiedEvent => house.message(`${index}: ${text}`, { channel, agent });
  const flood = Array.from({ length: Math.min(Math.floor(all / 4), MAX_PENDING) }, (_, index) => say(flooded, index));
  const others = Array.from({ length: all - 2 - flood.length }, (_, index) => ({ channel: rest[index % rest.length] ?? '', index }));
  return [
    [say(hanging, 0, HANGS), say(hanging, 1)], flood,
    ...rest.map((channel) => others.filter((one) => one.channel === channel).map(({ index }) => say(channel, index))),
  ];
}

/** The first of each list, then the second of each, and so on. */
function interleaved<T>(lists: readonly (readonly T[])[]): readonly T[] {
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, index) => lists.flatMap((list) => list.slice(index, index + 1))).flat();
}

async function followed(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => { setTimeout(resolve, 20); });
}

function heapMb(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1_048_576;
}
