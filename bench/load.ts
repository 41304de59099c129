/**
 * The load of a busy house: 32 processes of four agents in 500 channels, with 20,000 events in the inbox before the first
 * is answered. Everything real but the relay, which forgets what it sends. test/e2e/load.test.ts runs a small one.
 */
import { runCrowd } from './crowd.ts';
import type { BenchRow } from './row.ts';

const SIZE = { agents: 4, processes: 8, channels: 500, events: 20_000 };

export async function run(): Promise<BenchRow[]> {
  const { queued, faults, atOnce, behind, besideFlood, slowest, enqueueMs, drainMs, heapMb: [before, full, after] } = await runCrowd(SIZE);
  const perSecond = (count: number, ms: number): string => `${((count * 1000) / ms).toFixed(0)} a second`;
  return [
    {
      goal: 'L1', name: 'events lost, doubled or out of order', ratio: faults.length, unit: `of ${SIZE.events}`, floor: 'none; exactly 0',
      detail: `${queued} queued at ${perSecond(SIZE.events, enqueueMs)}, drained at ${perSecond(SIZE.events, drainMs)}, at most ${atOnce} turns at a time of ${SIZE.agents * SIZE.processes}${faults.length > 0 ? `; ${faults.slice(0, 3).join('; ')}` : ''}`,
    },
    {
      goal: 'L2', name: 'heap of a queued event', ratio: ((full - before) * 1024) / SIZE.events, unit: 'kB', floor: 'none; bounded',
      detail: `${before.toFixed(0)} MB before, ${full.toFixed(0)} MB with all queued, ${after.toFixed(0)} MB when all were done`,
    },
    {
      goal: 'L3', name: 'done by the slowest agent when the first is', ratio: slowest, unit: 'of all', floor: 'the first agent; about 1',
      detail: `${(besideFlood * 100).toFixed(0)} % of the other turns began before a channel's flood was over; ${behind} events waited behind ${SIZE.agents} turns that hung, all else was done`,
    },
  ];
}
