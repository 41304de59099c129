/**
 * The life of one prompt in time: how long it may be silent, how long it may last, what a cancel does, who is believed
 * about its end. Pure. The first reason to end it is kept: later ones change nothing.
 *
 * | status     | sent    | line      | suspend, resume  | steered   | cancel          | time                  | answered, failed | poison | process_ended |
 * |------------|---------|-----------|------------------|-----------|-----------------|-----------------------|------------------|--------|---------------|
 * | unsent     | running | idle anew | idle still, anew | -         | ended, our word | ended if overdue      | -                | ended  | ended         |
 * | running    | -       | idle anew | idle still, anew | hard anew | cancelling      | cancelling if overdue | ended, its word  | ended  | ended         |
 * | cancelling | -       | -         | -                | -         | -               | killing after grace   | ended, our word  | ended  | ended, ours   |
 * | killing    | -       | -         | -                | -         | -               | -                     | -                | -      | ended, ours   |
 * | ended      | -       | -         | -                | -         | -               | -                     | -                | -      | -             |
 *
 * What was not sent needs no cancel. In `killing` an answer comes too late: the process is ending, the turn says so.
 * `steered` gives the work in hand new time, and is no sign of life: the idle timeout runs from the agent's last progress.
 * While idle stands still (a request waits for the owner) a line changes nothing, and the hard timeout goes on.
 */
import { later, unreachable } from '../model/index.ts';
import type { Milliseconds } from '../model/index.ts';
import type { AcpLimits } from './limits.ts';
import type { PoisonCause } from './permission-ports.ts';
import type { ModelTrouble, ProcessEnd, PromptOutcome, StopReason } from './ports.ts';

/** How a prompt ended, before what was seen of it is added. */
export type TurnEnd = PromptOutcome extends infer Outcome
  ? Outcome extends PromptOutcome
    ? Omit<Outcome, 'seen'>
    : never
  : never;

/** Why we end it. */
type Cause = 'cancelled' | 'idle_timeout' | 'hard_timeout';

export interface TurnBounds {
  readonly idleTimeoutMs: number;
  readonly hardTimeoutMs: number;
  readonly limits: Pick<AcpLimits, 'cancelGraceMs' | 'idleCancelGraceMs'>;
}

export type TurnState =
  | {
      readonly status: 'unsent' | 'running';
      readonly bounds: TurnBounds;
      /** Undefined while it stands still. */
      readonly idleAt: Milliseconds | undefined;
      readonly hardAt: Milliseconds;
    }
  | { readonly status: 'cancelling'; readonly bounds: TurnBounds; readonly cause: Cause; readonly killAt: Milliseconds }
  | { readonly status: 'killing'; readonly bounds: TurnBounds; readonly cause: Cause }
  | { readonly status: 'ended'; readonly end: TurnEnd };

export type TurnInput =
  /** The prompt goes to the agent now. */
  | { readonly type: 'sent' }
  /** The agent has shown that the turn goes on. */
  | { readonly type: 'line' }
  /** The idle timeout stands still; after `resume` it begins anew. */
  | { readonly type: 'suspend' }
  | { readonly type: 'resume' }
  /** The agent took a message into the turn. */
  | { readonly type: 'steered' }
  | { readonly type: 'cancel' }
  /** The process is replaced, because what it has read is not known. */
  | { readonly type: 'poison'; readonly cause: PoisonCause }
  /** Time has passed; a deadline may have been reached. */
  | { readonly type: 'time' }
  | { readonly type: 'answered'; readonly stopReason: StopReason }
  | { readonly type: 'failed'; readonly code: number; readonly message: string; readonly trouble?: ModelTrouble; readonly inAnswer?: true }
  | { readonly type: 'process_ended'; readonly end: ProcessEnd };

export type TurnCommand = { readonly type: 'send_cancel' } | { readonly type: 'kill' } | { readonly type: 'settle' };

interface TurnStep {
  readonly state: TurnState;
  readonly commands: readonly TurnCommand[];
}

export function startTurn(bounds: TurnBounds, now: Milliseconds): TurnState {
  return {
    status: 'unsent',
    bounds,
    idleAt: later(now, bounds.idleTimeoutMs),
    hardAt: later(now, bounds.hardTimeoutMs),
  };
}

export function stepTurn(state: TurnState, input: TurnInput, now: Milliseconds): TurnStep {
  switch (state.status) {
    case 'unsent':
      return whileUnsent(state, input, now);
    case 'running':
      return whileRunning(state, input, now);
    case 'cancelling':
      return whileCancelling(state, input, now);
    case 'killing':
      return input.type === 'process_ended' ? ended(ourWord(state.cause, state.bounds, false)) : stay(state);
    case 'ended':
      return stay(state);
    default:
      return unreachable(state);
  }
}

/** When the machine wants to hear of time; undefined when it waits for the process alone. */
export function turnDeadline(state: TurnState): Milliseconds | undefined {
  switch (state.status) {
    case 'unsent':
    case 'running':
      return state.idleAt !== undefined && state.idleAt < state.hardAt ? state.idleAt : state.hardAt;
    case 'cancelling':
      return state.killAt;
    case 'killing':
    case 'ended':
      return undefined;
    default:
      return unreachable(state);
  }
}

type Waiting = Extract<TurnState, { readonly status: 'unsent' | 'running' }>;
type Cancelling = Extract<TurnState, { readonly status: 'cancelling' }>;

function whileUnsent(state: Waiting, input: TurnInput, now: Milliseconds): TurnStep {
  const { bounds } = state;
  switch (input.type) {
    case 'sent':
      return stay({ ...state, status: 'running' });
    case 'line':
    case 'suspend':
    case 'resume':
      return stay({ ...state, idleAt: idleAfter(state, input.type, now) });
    case 'steered':
      return stay(state);
    case 'cancel':
      return ended(ourWord('cancelled', bounds, true));
    case 'time': {
      const cause = overdue(state, now);
      return cause === undefined ? stay(state) : ended(ourWord(cause, bounds, true));
    }
    case 'answered':
    case 'failed':
      return stay(state);
    case 'poison':
      return ended({ status: 'permission_poisoned', cause: input.cause });
    case 'process_ended':
      return ended({ status: 'process_ended', end: input.end });
    default:
      return unreachable(input);
  }
}

function whileRunning(state: Waiting, input: TurnInput, now: Milliseconds): TurnStep {
  const { bounds, hardAt } = state;
  const grace = later(now, bounds.limits.cancelGraceMs);
  switch (input.type) {
    case 'sent':
      return stay(state);
    case 'line':
    case 'suspend':
    case 'resume':
      return stay({ ...state, idleAt: idleAfter(state, input.type, now) });
    case 'steered':
      return stay({ ...state, hardAt: later(now, bounds.hardTimeoutMs) });
    case 'cancel':
      return cancelling('cancelled', bounds, grace);
    case 'time': {
      const cause = overdue(state, now);
      if (cause === undefined) return stay(state);
      return cancelling(cause, bounds, cause === 'hard_timeout' ? grace : idleGrace(bounds, hardAt, now));
    }
    case 'answered':
      return ended({ status: 'ended', stopReason: input.stopReason });
    case 'failed': {
      const { code, message, trouble, inAnswer } = input;
      return ended({ status: 'error', code, message, ...(trouble && { trouble }), ...(inAnswer && { inAnswer }) });
    }
    case 'poison':
      return ended({ status: 'permission_poisoned', cause: input.cause });
    case 'process_ended':
      return ended({ status: 'process_ended', end: input.end });
    default:
      return unreachable(input);
  }
}

function whileCancelling(state: Cancelling, input: TurnInput, now: Milliseconds): TurnStep {
  const { bounds, cause } = state;
  switch (input.type) {
    case 'sent':
    case 'line':
    case 'suspend':
    case 'resume':
    case 'steered':
    case 'cancel':
      return stay(state);
    case 'time':
      if (now < state.killAt) return stay(state);
      return { state: { status: 'killing', bounds, cause }, commands: [{ type: 'kill' }] };
    case 'answered':
    case 'failed':
      // Agents end a cancelled turn with end_turn, refusal or an error as well as with cancelled; it was our doing.
      return ended(ourWord(cause, bounds, true));
    case 'poison':
      return ended({ status: 'permission_poisoned', cause: input.cause });
    case 'process_ended':
      return ended(ourWord(cause, bounds, false));
    default:
      return unreachable(input);
  }
}

function idleAfter({ idleAt, bounds }: Waiting, input: 'line' | 'suspend' | 'resume', now: Milliseconds): Milliseconds | undefined {
  if (input === 'suspend' || (input === 'line' && idleAt === undefined)) return undefined;
  return later(now, bounds.idleTimeoutMs);
}

/** Which of its two bounds it has reached. */
function overdue({ idleAt, hardAt }: Waiting, now: Milliseconds): Exclude<Cause, 'cancelled'> | undefined {
  if (now >= hardAt) return 'hard_timeout';
  return idleAt !== undefined && now >= idleAt ? 'idle_timeout' : undefined;
}

/** The long grace after silence does not reach beyond the hard timeout and its own grace. */
function idleGrace({ limits }: TurnBounds, hardAt: Milliseconds, now: Milliseconds): Milliseconds {
  const full = later(now, limits.idleCancelGraceMs);
  const short = later(hardAt, limits.cancelGraceMs);
  return full < short ? full : short;
}

function ourWord(cause: Cause, bounds: TurnBounds, processAlive: boolean): TurnEnd {
  switch (cause) {
    case 'cancelled':
      return { status: 'cancelled', processAlive };
    case 'idle_timeout':
      return { status: 'idle_timeout', afterMs: bounds.idleTimeoutMs, processAlive };
    case 'hard_timeout':
      return { status: 'hard_timeout', afterMs: bounds.hardTimeoutMs, processAlive };
    default:
      return unreachable(cause);
  }
}

function cancelling(cause: Cause, bounds: TurnBounds, killAt: Milliseconds): TurnStep {
  return { state: { status: 'cancelling', bounds, cause, killAt }, commands: [{ type: 'send_cancel' }] };
}

function ended(end: TurnEnd): TurnStep {
  return { state: { status: 'ended', end }, commands: [{ type: 'settle' }] };
}

function stay(state: TurnState): TurnStep {
  return { state, commands: [] };
}
