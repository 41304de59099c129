import { describe, expect, it } from 'vitest';
import { mayStart, newBreaker, nextStartAt, stepBreaker } from '../../src/acp/index.ts';
import type { BreakerCommand, BreakerInput, BreakerState } from '../../src/acp/index.ts';
import { milliseconds } from '../../src/model/index.ts';

const at = milliseconds;
const NOW = at(1_000_000);
const OPEN: BreakerState = { status: 'open', until: at(1_300_000) };

const started: BreakerInput = { type: 'started' };
const failed: BreakerInput = { type: 'spawn_failed' };
const worked: BreakerInput = { type: 'worked' };
const stopped: BreakerInput = { type: 'stopped' };
const crashed: BreakerInput = { type: 'crashed', jitter: 0.5 };

const waiting: BreakerState = { status: 'waiting', crashes: [at(990_000)], notBefore: at(991_000) };
const running: BreakerState = { status: 'running', crashes: [at(980_000)], since: at(999_000) };
const open: BreakerState = { status: 'open', until: at(999_999) };
const probing: BreakerState = { status: 'probing', since: at(999_000) };

function opened(because: 'crashes' | 'spawn_failed'): BreakerCommand {
  return { type: 'opened', until: at(1_300_000), because };
}

describe('the breaker of a process slot', () => {
  const table: readonly (readonly [BreakerState, BreakerInput, BreakerState, readonly BreakerCommand[]])[] = [
    [waiting, started, { status: 'running', crashes: [at(990_000)], since: NOW }, []],
    [waiting, failed, OPEN, [opened('spawn_failed')]],
    [waiting, crashed, waiting, []],
    [waiting, worked, waiting, []],
    [waiting, stopped, waiting, []],
    [running, started, running, []],
    [running, failed, OPEN, [opened('spawn_failed')]],
    [running, crashed, { status: 'waiting', crashes: [at(980_000), NOW], notBefore: at(1_002_000) }, []],
    [running, worked, { status: 'running', crashes: [], since: at(999_000) }, []],
    [running, stopped, { status: 'waiting', crashes: [at(980_000)], notBefore: NOW }, []],
    [open, started, { status: 'probing', since: NOW }, []],
    [open, failed, OPEN, []],
    [open, crashed, open, []],
    [open, worked, open, []],
    [open, stopped, open, []],
    [probing, started, probing, []],
    [probing, failed, OPEN, []],
    [probing, crashed, OPEN, []],
    [probing, worked, { status: 'running', crashes: [], since: at(999_000) }, [{ type: 'recovered' }]],
    [probing, stopped, { status: 'open', until: NOW }, []],
  ];
  it.each(
    table.map(([state, input, next, commands]) => [state.status, input.type, state, input, next, commands] as const),
  )('%s, %s', (_status, _input, state, input, next, commands) => {
    expect(stepBreaker(state, input, NOW)).toEqual({ state: next, commands });
  });
  it('the table is complete', () => {
    expect(new Set(table.map(([state, input]) => `${state.status} ${input.type}`)).size).toBe(4 * 5);
  });

  it.each([
    ['the first crash', [], 0.5, 1_000],
    ['the second', [at(999_000)], 0.5, 2_000],
    ['the least jitter', [], 0, 800],
    ['the most jitter', [], 1, 1_200],
    ['crashes a minute ago are forgotten', [at(940_000), at(939_999)], 0.5, 1_000],
    ['but not those a little younger', [at(940_001)], 0.5, 2_000],
  ])('delays the next start: %s', (_, crashes, jitter, delayMs) => {
    const { state } = stepBreaker({ status: 'running', crashes, since: at(999_500) }, { type: 'crashed', jitter }, NOW);
    expect(nextStartAt(state)).toBe(NOW + delayMs);
    expect(mayStart(state, at(NOW + delayMs - 1))).toBe(false);
    expect(mayStart(state, at(NOW + delayMs))).toBe(true);
  });

  it('opens at the third crash in a minute, for five', () => {
    const state: BreakerState = { status: 'running', crashes: [at(940_001), at(950_000)], since: at(999_000) };
    expect(stepBreaker(state, crashed, NOW)).toEqual({ state: OPEN, commands: [opened('crashes')] });
  });

  it('counts a process that ran for a minute as one that worked', () => {
    const crashes = [at(941_000), at(942_000)];
    const after = (since: number): BreakerState =>
      stepBreaker({ status: 'running', crashes, since: at(since) }, crashed, NOW).state;
    expect(after(940_000)).toEqual({ status: 'waiting', crashes: [NOW], notBefore: at(1_001_000) });
    expect(after(940_001).status).toBe('open');
    expect(stepBreaker({ status: 'probing', since: at(940_000) }, crashed, NOW)).toEqual({
      state: { status: 'waiting', crashes: [NOW], notBefore: at(1_001_000) },
      commands: [{ type: 'recovered' }],
    });
  });

  it('never lets a program that always dies after a second storm, and tells of it once', () => {
    let now = at(0);
    let state = newBreaker(now);
    const startedAt: number[] = [];
    const commands: BreakerCommand[] = [];
    const feed = (input: BreakerInput): void => {
      const step = stepBreaker(state, input, now);
      state = step.state;
      commands.push(...step.commands);
    };
    while (now < 3_600_000) {
      const next = nextStartAt(state);
      now = next ?? at(now + 1_000);
      if (next === undefined) feed(crashed);
      else {
        startedAt.push(now);
        feed(started);
      }
    }
    expect(startedAt.slice(0, 5)).toEqual([0, 2_000, 5_000, 306_000, 607_000]);
    expect(startedAt.length).toBeLessThan(16);
    expect(commands.map(({ type }) => type)).toEqual(['opened']);
  });
});
