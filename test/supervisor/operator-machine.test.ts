/** The table of the operator machine, and a walk in which no beat piles up, none takes a waiting message's place, one gives way once and only where it must, and the initial prompt comes first. */
import { describe, expect, it } from 'vitest';
import { newOperator, stepOperator } from '../../src/supervisor/operator/machine.ts';
import type { OperatorInput, OperatorState, OperatorStep } from '../../src/supervisor/operator/machine.ts';
import { ms } from './people.ts';

const EVERY_MS = 100;
const NOW = ms(1_000);

type Look = Extract<OperatorInput, { type: 'look' }>;
const QUIET: Look = { type: 'look', free: true, mayBegin: true, messagesWait: false, messageDue: false, silent: false };
/** A message has no process but that of a heartbeat. */
const PRESSED: Look = { ...QUIET, free: false, messagesWait: true, messageDue: true, silent: true };
const look = (change: Partial<Look> = {}): Look => ({ ...QUIET, ...change });
const state = (change: Partial<OperatorState> = {}): OperatorState => ({
  status: 'idle', initialDue: false, everyMs: EVERY_MS, beatAtMs: ms(1_100), turns: 0, skipped: 0, ...change,
});
const due = (change: Partial<OperatorState> = {}): OperatorState => state({ beatAtMs: NOW, ...change });
const runs = (change: Partial<OperatorState> = {}): OperatorState => state({ status: 'running', turns: 1, ...change });

describe('the operator\'s turns', () => {
  it.each<readonly [string, OperatorState, OperatorInput, OperatorStep]>([
    ['nothing is due', state(), look(), { state: state() }],
    ['a beat is due', due(), look(), { state: runs(), run: 'heartbeat' }],
    ['a beat is due, no process is free', due(), look({ free: false }), { state: state({ status: 'wanting' }) }],
    ['a beat is due, a message waits', due(), look({ messagesWait: true }), { state: state({ skipped: 1 }) }],
    ['a beat is due, no turn may begin', due(), look({ mayBegin: false }), { state: state({ skipped: 1 }) }],
    ['a silent one gives way', runs(), PRESSED, { state: runs({ status: 'yielding' }), giveWay: true }],
    ['a silent one gives way when the next beat is due', { ...runs(), beatAtMs: NOW }, PRESSED, { state: runs({ status: 'yielding', skipped: 1 }), giveWay: true }],
    ['one at work is left to end', runs(), { ...PRESSED, silent: false }, { state: runs() }],
    ['it keeps its process where there is another', runs(), { ...PRESSED, free: true }, { state: runs() }],
    ['it keeps its process where no turn may begin', runs(), { ...PRESSED, mayBegin: false }, { state: runs() }],
    ['it keeps its process where the message may not begin yet', runs(), { ...PRESSED, messageDue: false }, { state: runs() }],
    ['it gives way once', runs({ status: 'yielding' }), PRESSED, { state: runs({ status: 'yielding' }) }],
    ['a beat is due, one gives way', { ...runs({ status: 'yielding' }), beatAtMs: NOW }, look(), { state: runs({ status: 'yielding', skipped: 1 }) }],
    ['one that gave way has ended', runs({ status: 'yielding' }), { type: 'ended' }, { state: runs({ status: 'idle' }) }],
    ['a beat is due, one runs', due({ status: 'running' }), look(), { state: state({ status: 'running', skipped: 1 }) }],
    ['a wanted beat gets its process', state({ status: 'wanting' }), look(), { state: runs(), run: 'heartbeat' }],
    ['a wanted beat gives way to a message', state({ status: 'wanting' }), look({ messagesWait: true }), { state: state({ skipped: 1 }) }],
    ['a wanted beat waits on', state({ status: 'wanting' }), look({ free: false }), { state: state({ status: 'wanting', skipped: 1 }) }],
    ['a beat is due, one is wanted', due({ status: 'wanting' }), look({ free: false }), { state: state({ status: 'wanting', skipped: 1 }) }],
    ['the initial prompt is due', state({ initialDue: true }), look({ messagesWait: true }), { state: runs(), run: 'initial' }],
    ['the initial prompt waits for a process', state({ initialDue: true }), look({ free: false }), { state: state({ initialDue: true }) }],
    ['the initial prompt waits until a turn may begin', state({ initialDue: true }), look({ mayBegin: false }), { state: state({ initialDue: true }) }],
    ['both are due', due({ initialDue: true }), look(), { state: runs({ skipped: 1 }), run: 'initial' }],
    ['the initial prompt was given before', state({ initialDue: true }), { type: 'claimed' }, { state: state() }],
    ['a turn has ended', runs(), { type: 'ended' }, { state: state({ turns: 1 }) }],
    ['a turn runs and nothing is due', runs(), look(), { state: runs() }],
  ])('%s', (_, before, input, step) => {
    expect(stepOperator(before, input, NOW)).toEqual(step);
  });

  it('begin with nothing due but what the settings say', () => {
    expect(newOperator(undefined, true, NOW)).toEqual({ status: 'idle', initialDue: true, turns: 0, skipped: 0 });
    expect(newOperator(EVERY_MS, false, NOW)).toEqual(state());
    expect(stepOperator(newOperator(undefined, false, NOW), look(), ms(1e9))).toEqual({ state: newOperator(undefined, false, NOW) });
  });
});

const isUnderWay = ({ status }: OperatorState): boolean => status === 'running' || status === 'yielding';

function faultsOf(step: typeof stepOperator): readonly string[] {
  const faults = new Set<string>();
  const seen = new Set<string>();
  const walk = (at: OperatorState, now: number, given: number, depth: number): void => {
    const key = JSON.stringify([at, now, given, depth]);
    if (depth === 0 || seen.has(key)) return;
    seen.add(key);
    const take = (input: OperatorInput, atMs: number): void => {
      const { state: next, run, giveWay } = step(at, input, ms(atMs));
      if (run !== undefined && isUnderWay(at)) faults.add('two at once');
      if (giveWay === true && at.status !== 'running') faults.add('gives way twice');
      if (giveWay === true && input.type === 'look' && !input.silent) faults.add('cut short at work');
      if (run === 'heartbeat' && input.type === 'look' && input.messagesWait) faults.add('before a message');
      if (run === 'heartbeat' && at.initialDue) faults.add('before the initial prompt');
      if (run !== undefined && input.type === 'look' && !input.free) faults.add('without a process');
      const initials = given + (run === 'initial' ? 1 : 0);
      if (initials > 1) faults.add('the initial prompt twice');
      if (next.turns > 0 && next.turns + next.skipped > Math.floor((atMs - 1_000) / EVERY_MS) * 2 + 3) faults.add('beats that pile up');
      walk(next, atMs, initials, depth - 1);
    };
    for (const change of [{}, { free: false }, { messagesWait: true }, { mayBegin: false }, PRESSED, { ...PRESSED, silent: false }]) for (const waitMs of [0, EVERY_MS, 3 * EVERY_MS]) take(look(change), now + waitMs);
    if (isUnderWay(at)) take({ type: 'ended' }, now);
  };
  for (const initialDue of [true, false]) walk(newOperator(EVERY_MS, initialDue, NOW), 1_000, 0, 6);
  return [...faults].sort();
}

describe('every way they may come', () => {
  it('is one at a time, after messages, the initial prompt first and once', () => {
    expect(faultsOf(stepOperator)).toEqual([]);
  });

  it.each<readonly [string, string, typeof stepOperator]>([
    ['a beat at once that one has ended', 'beats that pile up', (at, input, now) => {
      const { state: next, run } = stepOperator(at, input, now);
      return { state: { ...next, ...(next.beatAtMs !== undefined && at.beatAtMs !== undefined && { beatAtMs: at.beatAtMs }) }, ...(run && { run }) };
    }],
    ['a beat although one runs', 'two at once', (at, input, now) => stepOperator(at.status === 'running' && input.type === 'look' ? { ...at, status: 'idle' } : at, input, now)],
    ['a beat although a message waits', 'before a message', (at, input, now) => {
      const { state: next, run } = stepOperator(at, input.type === 'look' ? { ...input, messagesWait: false } : input, now);
      return { state: next, ...(run && { run }) };
    }],
    ['one that gives way again', 'gives way twice', (at, input, now) => stepOperator(at.status === 'yielding' && input.type === 'look' ? { ...at, status: 'running' } : at, input, now)],
    ['work that is cut short', 'cut short at work', (at, input, now) => stepOperator(at, input.type === 'look' ? { ...input, silent: true } : input, now)],
    ['an initial prompt that stays due', 'the initial prompt twice', (at, input, now) => {
      const { state: next, run } = stepOperator(at, input, now);
      return { state: { ...next, initialDue: at.initialDue }, ...(run && { run }) };
    }],
  ])('would show %s', (_, fault, faulty) => {
    expect(faultsOf(faulty)).toContain(fault);
  });
});
