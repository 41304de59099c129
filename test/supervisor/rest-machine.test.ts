/** The table of the rest machine, and a walk over all that can happen to it. */
import { describe, expect, it } from 'vitest';
import { newRest, restDueMs, stepRest } from '../../src/supervisor/rest-machine.ts';
import type { RestInput, RestState, RestStep } from '../../src/supervisor/rest-machine.ts';
import { ms } from './people.ts';

const AFTER_MS = 100;
const NOW = ms(1_000);
const asleep: RestState = { status: 'asleep' };
const working: RestState = { status: 'working' };
const resting = (untilMs: number): RestState => ({ status: 'resting', untilMs: ms(untilMs) });
const work: RestInput = { type: 'work' };
const quiet: RestInput = { type: 'quiet' };
const tick = (inUse: boolean): RestInput => ({ type: 'tick', inUse });

describe('rest', () => {
  it.each<readonly [RestState, RestInput, RestStep]>([
    [asleep, work, { state: working, command: 'start' }],
    [asleep, quiet, { state: asleep }],
    [asleep, tick(false), { state: asleep }],
    [working, work, { state: working }],
    [working, quiet, { state: resting(1_100) }],
    [working, tick(false), { state: working }],
    [resting(1_000), work, { state: working }],
    [resting(1_050), quiet, { state: resting(1_050) }],
    [resting(1_001), tick(false), { state: resting(1_001) }],
    [resting(1_000), tick(false), { state: asleep, command: 'stop' }],
    [resting(1_000), tick(true), { state: resting(1_100) }],
  ])('%j at %j', (state, input, step) => {
    expect(stepRest(state, input, AFTER_MS, NOW)).toEqual(step);
  });

  it('begins asleep where it is lazy, else with a time to rest; without a time it never sleeps', () => {
    expect([newRest(true, AFTER_MS, NOW), newRest(false, AFTER_MS, NOW), newRest(false, undefined, NOW)]).toEqual([asleep, resting(1_100), { status: 'resting' }]);
    expect([asleep, working, { status: 'resting' } as const, resting(1_050)].map(restDueMs)).toEqual([undefined, undefined, undefined, 1_050]);
    expect(stepRest({ status: 'resting' }, tick(false), undefined, NOW)).toEqual({ state: { status: 'resting' } });
  });
});

/** What of a world with one message at a time is wrong after a step; the machine under it may be one with a fault. */
function faultsOf(step: typeof stepRest): readonly string[] {
  const faults = new Set<string>();
  interface World { readonly rest: RestState; readonly hasWork: boolean; readonly inUse: boolean; readonly runs: boolean; readonly sinceMs: number }
  const seen = new Set<string>();
  const look = (world: World, depth: number): void => {
    const key = JSON.stringify([world, depth]);
    if (depth === 0 || seen.has(key)) return;
    seen.add(key);
    const now = ms(world.sinceMs);
    const take = (input: RestInput, change: Partial<World>): void => {
      const before = { ...world, ...change };
      const { state, command } = step(world.rest, input, AFTER_MS, ms(before.sinceMs));
      const after = { ...before, rest: state, runs: command === 'start' ? true : command === 'stop' ? false : before.runs };
      if (command === 'stop' && (before.hasWork || before.inUse)) faults.add('ends what is in use');
      if (command === 'start' && before.runs) faults.add('starts what runs');
      if (after.hasWork && !after.runs) faults.add('leaves work without a process');
      if (!after.hasWork && after.runs && restDueMs(state) === undefined) faults.add('never sleeps');
      look(after, depth - 1);
    };
    take(world.hasWork ? quiet : work, { hasWork: !world.hasWork });
    if (world.runs && !world.hasWork) look({ ...world, inUse: !world.inUse }, depth - 1);
    for (const later of [1, AFTER_MS]) take(tick(world.inUse), { sinceMs: now + later });
  };
  for (const lazy of [true, false]) look({ rest: newRest(lazy, AFTER_MS, ms(0)), hasWork: false, inUse: false, runs: !lazy, sinceMs: 0 }, 9);
  return [...faults].sort();
}

describe('every way to rest', () => {
  it('keeps what is in use, and leaves no work alone', () => {
    expect(faultsOf(stepRest)).toEqual([]);
  });

  it.each<readonly [string, string, typeof stepRest]>([
    ['a tick that does not ask', 'ends what is in use', (state, input, after, now) => stepRest(state, input.type === 'tick' ? tick(false) : input, after, now)],
    ['work that does not end a rest', 'ends what is in use', (state, input, after, now) => (input.type === 'work' && state.status === 'resting' ? { state } : stepRest(state, input, after, now))],
    ['work that wakes nobody', 'leaves work without a process', (state, input, after, now) => (input.type === 'work' ? { state: working } : stepRest(state, input, after, now))],
    ['quiet that is not heard', 'never sleeps', (state, input, after, now) => (input.type === 'quiet' ? { state } : stepRest(state, input, after, now))],
  ])('would show %s', (_, fault, faulty) => {
    expect(faultsOf(faulty)).toContain(fault);
  });
});
