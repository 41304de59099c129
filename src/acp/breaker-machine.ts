/**
 * When an agent process may be started again: the breaker of one process slot. Pure; the caller passes the time and
 * the jitter. Numbers as Buzz's harness has them, so that an operator meets the same rhythm.
 *
 * | status  | started          | spawn_failed | crashed                    | worked            | stopped             |
 * |---------|------------------|--------------|----------------------------|-------------------|---------------------|
 * | waiting | running          | open         | -                          | -                 | -                   |
 * | running | -                | open         | waiting, or open at the 3rd | recovered        | waiting, no delay   |
 * | open    | running as probe | open again   | -                          | -                 | -                   |
 * | probing | -                | open         | open                       | running, recovered | open, due now      |
 *
 * `-`: cannot happen, and changes nothing. A process that ran for 60 s has worked, whether or not it said so.
 */
import { later, unreachable } from '../model/index.ts';
import type { Milliseconds } from '../model/index.ts';

const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 30_000;
const JITTER = 0.2;
const CRASH_WINDOW_MS = 60_000;
const MAX_CRASHES = 3;
const OPEN_MS = 300_000;
const RAN_WELL_MS = 60_000;

/** `crashes` are the times of the recent ones, oldest first: at most two, as the third opens the breaker. */
export type BreakerState =
  | { readonly status: 'waiting'; readonly crashes: readonly Milliseconds[]; readonly notBefore: Milliseconds }
  | { readonly status: 'running'; readonly crashes: readonly Milliseconds[]; readonly since: Milliseconds }
  | { readonly status: 'open'; readonly until: Milliseconds }
  | { readonly status: 'probing'; readonly since: Milliseconds };

export type BreakerInput =
  /** A process was started; only while `mayStart`. */
  | { readonly type: 'started' }
  /** It could not be started, or never answered. */
  | { readonly type: 'spawn_failed' }
  /** It ended by itself, or had to be killed. `jitter` is in [0, 1). */
  | { readonly type: 'crashed'; readonly jitter: number }
  /** It finished a turn. */
  | { readonly type: 'worked' }
  /** It was ended on purpose. */
  | { readonly type: 'stopped' };

/** `opened` and `recovered` come once each: one notice for the owner, not one a crash. */
export type BreakerCommand =
  | { readonly type: 'opened'; readonly until: Milliseconds; readonly because: 'crashes' | 'spawn_failed' }
  | { readonly type: 'recovered' };

export interface BreakerStep {
  readonly state: BreakerState;
  readonly commands: readonly BreakerCommand[];
}

export function newBreaker(now: Milliseconds): BreakerState {
  return { status: 'waiting', crashes: [], notBefore: now };
}

export function stepBreaker(state: BreakerState, input: BreakerInput, now: Milliseconds): BreakerStep {
  switch (state.status) {
    case 'waiting':
      if (input.type === 'started') return stay({ status: 'running', crashes: state.crashes, since: now });
      return input.type === 'spawn_failed' ? open(now, 'spawn_failed') : stay(state);
    case 'open':
      if (input.type === 'started') return stay({ status: 'probing', since: now });
      return input.type === 'spawn_failed' ? reopen(now) : stay(state);
    case 'running':
      return whileRunning(state, input, now);
    case 'probing':
      return whileProbing(state, input, now);
    default:
      return unreachable(state);
  }
}

export function mayStart(state: BreakerState, now: Milliseconds): boolean {
  const at = nextStartAt(state);
  return at !== undefined && at <= now;
}

/** When the next start is allowed; undefined while a process runs. */
export function nextStartAt(state: BreakerState): Milliseconds | undefined {
  switch (state.status) {
    case 'waiting':
      return state.notBefore;
    case 'open':
      return state.until;
    case 'running':
    case 'probing':
      return undefined;
    default:
      return unreachable(state);
  }
}

type Running = Extract<BreakerState, { readonly status: 'running' }>;
type Probing = Extract<BreakerState, { readonly status: 'probing' }>;

function whileRunning(state: Running, input: BreakerInput, now: Milliseconds): BreakerStep {
  switch (input.type) {
    case 'started':
      return stay(state);
    case 'worked':
      return stay({ ...state, crashes: [] });
    case 'spawn_failed':
      return open(now, 'spawn_failed');
    case 'stopped':
      return stay({ status: 'waiting', crashes: state.crashes, notBefore: now });
    case 'crashed': {
      const before = now - state.since >= RAN_WELL_MS ? [] : state.crashes;
      const crashes = [...before.filter((at) => now - at < CRASH_WINDOW_MS), now];
      if (crashes.length >= MAX_CRASHES) return open(now, 'crashes');
      return stay({ status: 'waiting', crashes, notBefore: later(now, delayMs(crashes.length, input.jitter)) });
    }
    default:
      return unreachable(input);
  }
}

function whileProbing(state: Probing, input: BreakerInput, now: Milliseconds): BreakerStep {
  const recovered: BreakerCommand = { type: 'recovered' };
  switch (input.type) {
    case 'started':
      return stay(state);
    case 'worked':
      return { state: { status: 'running', crashes: [], since: state.since }, commands: [recovered] };
    case 'spawn_failed':
      return reopen(now);
    case 'stopped':
      // Nothing was shown: the next start is the probe again.
      return stay({ status: 'open', until: now });
    case 'crashed': {
      if (now - state.since < RAN_WELL_MS) return reopen(now);
      const after = whileRunning({ status: 'running', crashes: [], since: state.since }, input, now);
      return { state: after.state, commands: [recovered, ...after.commands] };
    }
    default:
      return unreachable(input);
  }
}

/** 1 s, 2 s, 4 s, ... at most 30 s, each ±20 %. */
function delayMs(crashes: number, jitter: number): number {
  const base = Math.min(FIRST_DELAY_MS * 2 ** (crashes - 1), MAX_DELAY_MS);
  return Math.round(base * (1 - JITTER + 2 * JITTER * jitter));
}

function open(now: Milliseconds, because: 'crashes' | 'spawn_failed'): BreakerStep {
  const until = later(now, OPEN_MS);
  return { state: { status: 'open', until }, commands: [{ type: 'opened', until, because }] };
}

/** The probe failed: open as before. It was told once already; the owner needs no second notice. */
function reopen(now: Milliseconds): BreakerStep {
  return stay({ status: 'open', until: later(now, OPEN_MS) });
}

function stay(state: BreakerState): BreakerStep {
  return { state, commands: [] };
}
