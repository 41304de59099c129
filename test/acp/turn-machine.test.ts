import { describe, expect, it } from 'vitest';
import { startTurn, stepTurn, turnDeadline } from '../../src/acp/turn-machine.ts';
import type { TurnCommand, TurnEnd, TurnInput, TurnState } from '../../src/acp/turn-machine.ts';
import { milliseconds } from '../../src/model/index.ts';

const at = milliseconds;
const NOW = at(10_000);
const bounds = { idleTimeoutMs: 900, hardTimeoutMs: 7_200, limits: { cancelGraceMs: 50, idleCancelGraceMs: 300 } };

const running: TurnState = { status: 'running', bounds, idleAt: at(10_100), hardAt: at(12_000) };
const unsent: TurnState = { ...running, status: 'unsent' };
const still: TurnState = { ...running, idleAt: undefined };
const idle: TurnState = { ...running, idleAt: NOW };
const overdue: TurnState = { ...running, idleAt: at(9_000), hardAt: NOW };
const cancelling: TurnState = { status: 'cancelling', bounds, cause: 'cancelled', killAt: at(10_050) };
const ignored: TurnState = { ...cancelling, killAt: NOW };
const killing: TurnState = { status: 'killing', bounds, cause: 'cancelled' };
const over: TurnState = { status: 'ended', end: { status: 'ended', stopReason: 'end_turn' } };

const sent: TurnInput = { type: 'sent' };
const line: TurnInput = { type: 'line' };
const suspend: TurnInput = { type: 'suspend' };
const resume: TurnInput = { type: 'resume' };
const poison: TurnInput = { type: 'poison', cause: 'unread' };
const steered: TurnInput = { type: 'steered' };
const cancel: TurnInput = { type: 'cancel' };
const time: TurnInput = { type: 'time' };
const answered: TurnInput = { type: 'answered', stopReason: 'refusal' };
const failed: TurnInput = { type: 'failed', code: 401, message: 'who?' };
const exited: TurnInput = { type: 'process_ended', end: { how: 'exited', exitCode: 3, stderrTail: '' } };

const asked: readonly TurnCommand[] = [{ type: 'send_cancel' }];
const settled: readonly TurnCommand[] = [{ type: 'settle' }];
const ended = (end: TurnEnd): TurnState => ({ status: 'ended', end });

describe('a turn in time', () => {
  const table: readonly (readonly [string, TurnState, TurnInput, TurnState, readonly TurnCommand[]])[] = [
    ['unsent', unsent, sent, running, []],
    ['unsent', unsent, line, { ...unsent, idleAt: at(10_900) }, []],
    ['unsent', unsent, suspend, { ...unsent, idleAt: undefined }, []],
    ['unsent', { ...unsent, idleAt: undefined }, resume, { ...unsent, idleAt: at(10_900) }, []],
    ['unsent', unsent, steered, unsent, []],
    // New time for more work, and no sign of life.
    ['running', running, steered, { ...running, hardAt: at(17_200) }, []],
    ['running, idle standing still', still, steered, { ...still, hardAt: at(17_200) }, []],
    ['cancelling', cancelling, steered, cancelling, []],
    ['killing', killing, steered, killing, []],
    ['ended', over, steered, over, []],
    ['unsent', unsent, poison, ended({ status: 'permission_poisoned', cause: 'unread' }), settled],
    ['unsent', unsent, cancel, ended({ status: 'cancelled', processAlive: true }), settled],
    ['unsent', unsent, time, unsent, []],
    ['unsent', unsent, answered, unsent, []],
    ['unsent', unsent, failed, unsent, []],
    [
      'unsent',
      unsent,
      exited,
      ended({ status: 'process_ended', end: { how: 'exited', exitCode: 3, stderrTail: '' } }),
      settled,
    ],
    [
      'unsent and idle',
      { ...unsent, idleAt: NOW },
      time,
      ended({ status: 'idle_timeout', afterMs: 900, processAlive: true }),
      settled,
    ],
    [
      'unsent and overdue',
      { ...unsent, hardAt: NOW },
      time,
      ended({ status: 'hard_timeout', afterMs: 7_200, processAlive: true }),
      settled,
    ],
    ['running', running, sent, running, []],
    ['running', running, line, { ...running, idleAt: at(10_900) }, []],
    ['running', running, suspend, still, []],
    ['running', still, resume, { ...running, idleAt: at(10_900) }, []],
    ['still', still, suspend, still, []],
    ['still', still, line, still, []],
    ['still', still, time, still, []],
    ['still', still, cancel, cancelling, asked],
    ['still and overdue', { ...still, hardAt: NOW }, time, { status: 'cancelling', bounds, cause: 'hard_timeout', killAt: at(10_050) }, asked],
    ['running', running, poison, ended({ status: 'permission_poisoned', cause: 'unread' }), settled],
    ['running', running, cancel, cancelling, asked],
    ['running', running, time, running, []],
    ['running', running, answered, ended({ status: 'ended', stopReason: 'refusal' }), settled],
    ['running', running, failed, ended({ status: 'error', code: 401, message: 'who?' }), settled],
    [
      'running',
      running,
      exited,
      ended({ status: 'process_ended', end: { how: 'exited', exitCode: 3, stderrTail: '' } }),
      settled,
    ],
    ['idle', idle, time, { status: 'cancelling', bounds, cause: 'idle_timeout', killAt: at(10_300) }, asked],
    ['overdue', overdue, time, { status: 'cancelling', bounds, cause: 'hard_timeout', killAt: at(10_050) }, asked],
    ['cancelling', cancelling, sent, cancelling, []],
    ['cancelling', cancelling, line, cancelling, []],
    ['cancelling', cancelling, suspend, cancelling, []],
    ['cancelling', cancelling, resume, cancelling, []],
    ['cancelling', cancelling, poison, ended({ status: 'permission_poisoned', cause: 'unread' }), settled],
    ['cancelling', cancelling, cancel, cancelling, []],
    ['cancelling', cancelling, time, cancelling, []],
    ['cancelling', cancelling, answered, ended({ status: 'cancelled', processAlive: true }), settled],
    ['cancelling', cancelling, failed, ended({ status: 'cancelled', processAlive: true }), settled],
    ['cancelling', cancelling, exited, ended({ status: 'cancelled', processAlive: false }), settled],
    ['ignored', ignored, time, killing, [{ type: 'kill' }]],
    ['killing', killing, sent, killing, []],
    ['killing', killing, line, killing, []],
    ['killing', killing, suspend, killing, []],
    ['killing', killing, resume, killing, []],
    ['killing', killing, poison, killing, []],
    ['killing', killing, cancel, killing, []],
    ['killing', killing, time, killing, []],
    ['killing', killing, answered, killing, []],
    ['killing', killing, failed, killing, []],
    ['killing', killing, exited, ended({ status: 'cancelled', processAlive: false }), settled],
    ...[sent, line, suspend, resume, cancel, time, poison, answered, failed, exited].map((input) => ['ended', over, input, over, []] as const),
  ];
  it.each(
    table.map(([name, state, input, next, commands]) => [name, input.type, state, input, next, commands] as const),
  )('%s, %s', (_name, _input, state, input, next, commands) => {
    expect(stepTurn(state, input, NOW)).toEqual({ state: next, commands });
  });
  it('the table is complete', () => {
    expect(new Set(table.map(([, state, input]) => `${state.status} ${input.type}`)).size).toBe(5 * 11);
  });

  it('reports a timeout as one, whatever the agent says when it is told', () => {
    const idled: TurnState = { status: 'cancelling', bounds, cause: 'idle_timeout', killAt: at(10_300) };
    const hard: TurnState = { status: 'killing', bounds, cause: 'hard_timeout' };
    expect(stepTurn(idled, answered, NOW).state).toEqual(
      ended({ status: 'idle_timeout', afterMs: 900, processAlive: true }),
    );
    expect(stepTurn(hard, exited, NOW).state).toEqual(
      ended({ status: 'hard_timeout', afterMs: 7_200, processAlive: false }),
    );
  });

  it('does not let the grace after silence outlast the hard timeout and its own', () => {
    const late: TurnState = { ...idle, hardAt: at(10_100) };
    expect(turnDeadline(stepTurn(late, time, NOW).state)).toBe(10_150);
  });

  it.each([
    ['unsent', unsent, 10_100],
    ['running', running, 10_100],
    ['still', still, 12_000],
    ['close to the hard timeout', { ...running, hardAt: at(10_001) }, 10_001],
    ['cancelling', cancelling, 10_050],
    ['killing', killing, undefined],
    ['ended', over, undefined],
  ])('wants to be woken while %s', (_, state, deadline) => {
    expect(turnDeadline(state)).toBe(deadline);
  });

  it('begins with both deadlines ahead', () => {
    expect(startTurn(bounds, NOW)).toEqual({ status: 'unsent', bounds, idleAt: 10_900, hardAt: 17_200 });
  });
});
