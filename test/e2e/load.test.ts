/** The load of `npm run bench -- load` on a small scale: all of skep on real agent processes, with many events waiting. */
import { expect, it } from 'vitest';
import { runCrowd } from '../../bench/crowd.ts';

const SIZE = { agents: 2, processes: 4, channels: 20, events: 200 };

it('drains what waits once and in order, with no lane behind another and no agent behind another', { timeout: 120_000 }, async () => {
  const { queued, faults, atOnce, behind, besideFlood, slowest } = await runCrowd(SIZE);
  expect(faults).toEqual([]);
  expect(queued).toBe(SIZE.events);
  expect(atOnce).toBe(SIZE.agents * SIZE.processes);
  // What was said behind the turn that hung, and nothing else.
  expect(behind).toBe(SIZE.agents);
  expect(besideFlood).toBeGreaterThan(0.3);
  expect(slowest).toBeGreaterThan(0.25);
});
