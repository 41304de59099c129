/**
 * When an agent is given a turn that no message asked for: the operator's initial prompt, and heartbeats. Pure; looked at
 * whenever something may be free, and when the next beat is due.
 *
 *   status \ what a look finds | initial due             | beat due, quiet           | beat due, not quiet | neither
 *   idle                       | a process: run          | a process: run, else want | skipped             | -
 *   wanting (a beat)           | (it is over by then)    | skipped, still wanting    | skipped; idle       | a process: run;
 *                              |                         |                           |                     |   not quiet: skipped, idle
 *   running                    | -                       | skipped                   | skipped, and as in  | give way, where a message
 *                              |                         |                           |   the last column   |   may begin and has no other
 *                              |                         |                           |                     |   process, and it is silent
 *   yielding                   | -                       | skipped                   | skipped             | -
 *
 * `ended`: running, yielding → idle. Silent: a heartbeat that has left nothing behind and has nothing in hand. It is cut
 * short for a message; one in the middle of work, and the initial prompt, are left to end. `claimed` (it was given in an
 * earlier run): the initial prompt is not due. Quiet: no message waits and a turn may begin. The initial prompt waits until one may: given to a provider that takes no requests it would be lost.
 * A beat never waits for messages and never piles up: what is skipped is over, and only counted.
 */
import { later, unreachable } from '../../model/index.ts';
import type { Milliseconds } from '../../model/index.ts';

export type OperatorSource = 'heartbeat' | 'initial';

export interface OperatorState {
  readonly status: 'idle' | 'wanting' | 'running' | 'yielding';
  /** Messages wait until it was given. */
  readonly initialDue: boolean;
  /** Between beats; absent: none. */
  readonly everyMs?: number;
  readonly beatAtMs?: Milliseconds;
  readonly turns: number;
  readonly skipped: number;
}

export type OperatorInput =
  /**
   * `free`: a process is idle. `mayBegin`: the relay is there, and the provider of the model takes requests, as far as is known.
   * `messageDue`: one of those that wait could have a process now. `silent`: what runs is a heartbeat that may be cut short.
   */
  | {
      readonly type: 'look';
      readonly free: boolean;
      readonly mayBegin: boolean;
      readonly messagesWait: boolean;
      readonly messageDue: boolean;
      readonly silent: boolean;
    }
  | { readonly type: 'ended' }
  | { readonly type: 'claimed' };

export interface OperatorStep {
  readonly state: OperatorState;
  /** Give the process to this turn, now. */
  readonly run?: OperatorSource;
  /** Cut the turn short: a message gets its process. */
  readonly giveWay?: true;
}

export function newOperator(everyMs: number | undefined, initialDue: boolean, now: Milliseconds): OperatorState {
  const beats = everyMs === undefined ? {} : { everyMs, beatAtMs: later(now, everyMs) };
  return { status: 'idle', initialDue, ...beats, turns: 0, skipped: 0 };
}

export function stepOperator(state: OperatorState, input: OperatorInput, now: Milliseconds): OperatorStep {
  switch (input.type) {
    case 'look':
      return look(state, input, now);
    case 'ended':
      return { state: { ...state, status: 'idle' } };
    case 'claimed':
      return { state: { ...state, initialDue: false } };
    default:
      return unreachable(input);
  }
}

function look(before: OperatorState, input: Extract<OperatorInput, { type: 'look' }>, now: Milliseconds): OperatorStep {
  const { free, mayBegin, messagesWait, messageDue, silent } = input;
  const { everyMs, beatAtMs } = before;
  const isDue = everyMs !== undefined && beatAtMs !== undefined && beatAtMs <= now;
  const state = isDue ? { ...before, beatAtMs: later(now, everyMs) } : before;
  if (state.status === 'running' || state.status === 'yielding') {
    const running = isDue ? skip(state) : state;
    const yields = state.status === 'running' && messageDue && !free && mayBegin && silent;
    return yields ? { state: { ...running, status: 'yielding' }, giveWay: true } : { state: running };
  }
  if (state.initialDue) return free && mayBegin ? run(isDue ? skip(state) : state, 'initial') : { state: isDue ? skip(state) : state };
  if (!isDue && state.status === 'idle') return { state };
  if (messagesWait || !mayBegin) return { state: { ...skip(state), status: 'idle' } };
  if (free) return run(state, 'heartbeat');
  return { state: { ...(state.status === 'wanting' ? skip(state) : state), status: 'wanting' } };
}

function skip(state: OperatorState): OperatorState {
  return { ...state, skipped: state.skipped + 1 };
}

function run(state: OperatorState, source: OperatorSource): OperatorStep {
  return { state: { ...state, status: 'running', initialDue: false, turns: state.turns + 1 }, run: source };
}
