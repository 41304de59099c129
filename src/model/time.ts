/**
 * Seconds and milliseconds are two types, so that they cannot be mixed; time and chance are parameters, so that a
 * test can hold them. `Clock` and `Random` are the only doors to either, and the composition root opens them.
 */
declare const unit: unique symbol;

/** Unix time in whole seconds, as Nostr's `created_at` counts it. */
export type Seconds = number & { readonly [unit]: 's' };
/** Unix time in milliseconds. */
export type Milliseconds = number & { readonly [unit]: 'ms' };

export function seconds(value: number): Seconds {
  return Math.trunc(value) as Seconds;
}

export function milliseconds(value: number): Milliseconds {
  return value as Milliseconds;
}

export function secondsOf(atMs: Milliseconds): Seconds {
  return Math.floor(atMs / 1000) as Seconds;
}

export function millisecondsOf(atSec: Seconds): Milliseconds {
  return (atSec * 1000) as Milliseconds;
}

export function later(atMs: Milliseconds, byMs: number): Milliseconds {
  return (atMs + byMs) as Milliseconds;
}

/** The longest wait a timer is armed for: `setTimeout` fires at once from 2^31 ms on, so longer waits are re-armed. */
export const MAX_TIMER_MS = 2_147_000_000;

/**
 * What a room may know of time. `now` is Unix time. `wake` calls back once, never within the call; the returned
 * function cancels it. The wait is `atMs - now()` at the call, in milliseconds that pass: where the clock is set
 * meanwhile, `now()` in the callback may be before `atMs`, so a clock that is set is for stamps, and a driver that
 * compares deadlines is given one that is not.
 */
export interface Clock {
  now(): Milliseconds;
  wake(atMs: Milliseconds, callback: () => void): () => void;
}

/** What a room may know of chance. */
export interface Random {
  /** `count` unpredictable bytes, fit for nonces and credentials. */
  bytes(count: number): Uint8Array;
  /** A number in [0, 1), for jitter. */
  fraction(): number;
}
