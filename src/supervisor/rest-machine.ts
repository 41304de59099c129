/**
 * When an agent's processes are let go for want of work, and started again. Pure; the deadline is state, and a tick is told
 * whether some process is in use for anything at all.
 *
 *   status \ input | work             | quiet                     | tick
 *   asleep         | working: start   | -                         | -
 *   working        | -                | resting from now          | -
 *   resting        | working          | -                         | due: asleep: stop; due and in use: resting from now
 *
 * Work is a message that waits or is in a turn, and any other turn; `quiet` says that there is none of it any more. What
 * comes while processes are still ending finds the agent asleep, and starts it: a slot begins its next life after the last.
 */
import { later, unreachable } from '../model/index.ts';
import type { Milliseconds } from '../model/index.ts';

export type RestState =
  | { readonly status: 'asleep' }
  | { readonly status: 'working' }
  /** `untilMs` is absent where it never sleeps. */
  | { readonly status: 'resting'; readonly untilMs?: Milliseconds };

export type RestInput =
  | { readonly type: 'work' }
  | { readonly type: 'quiet' }
  | { readonly type: 'tick'; readonly inUse: boolean };

export type RestCommand = 'start' | 'stop';

export interface RestStep {
  readonly state: RestState;
  readonly command?: RestCommand;
}

/** How the agent is before anything has happened: `sleepAfterMs` is absent where it never sleeps by itself. */
export function newRest(lazy: boolean, sleepAfterMs: number | undefined, now: Milliseconds): RestState {
  return lazy ? { status: 'asleep' } : resting(sleepAfterMs, now);
}

export function stepRest(state: RestState, input: RestInput, sleepAfterMs: number | undefined, now: Milliseconds): RestStep {
  switch (input.type) {
    case 'work':
      return state.status === 'asleep' ? { state: { status: 'working' }, command: 'start' } : { state: { status: 'working' } };
    case 'quiet':
      return { state: state.status === 'working' ? resting(sleepAfterMs, now) : state };
    case 'tick':
      if (state.status !== 'resting' || state.untilMs === undefined || now < state.untilMs) return { state };
      return input.inUse ? { state: resting(sleepAfterMs, now) } : { state: { status: 'asleep' }, command: 'stop' };
    default:
      return unreachable(input);
  }
}

/** When a `tick` may change something. */
export function restDueMs(state: RestState): Milliseconds | undefined {
  return state.status === 'resting' ? state.untilMs : undefined;
}

function resting(sleepAfterMs: number | undefined, now: Milliseconds): RestState {
  return { status: 'resting', ...(sleepAfterMs !== undefined && { untilMs: later(now, sleepAfterMs) }) };
}
