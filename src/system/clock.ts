/**
 * The wall clock as a `Clock`. A wait longer than a timer can hold is armed again in slices, and a timer that fires
 * before its time (the runtime rounds, the wall clock was set back) is armed for the rest. Waits keep the program
 * alive: whoever arms one cancels it.
 */
import { MAX_TIMER_MS, milliseconds } from '../model/index.ts';
import type { Clock, Milliseconds } from '../model/index.ts';

export const systemClock: Clock = { now, wake };

function now(): Milliseconds {
  return milliseconds(Date.now());
}

function wake(atMs: Milliseconds, callback: () => void): () => void {
  if (Number.isNaN(atMs)) throw new TypeError('wake: expected a time, found NaN');
  let timer = arm();
  return () => {
    clearTimeout(timer);
  };

  function arm(): NodeJS.Timeout {
    return setTimeout(onTimer, Math.min(Math.max(atMs - now(), 0), MAX_TIMER_MS));
  }

  function onTimer(): void {
    if (now() >= atMs) callback();
    else timer = arm();
  }
}
