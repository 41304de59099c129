/**
 * Real time, as two clocks with the same waits. A wait is taken in milliseconds when it is armed and counted on the
 * clock nobody sets (`performance.now`), so that setting the system's clock neither stalls nor shortens it. One longer
 * than a timer can hold is armed again in slices, and a timer that fires early (the runtime rounds) for the rest. Waits
 * keep the program alive: whoever arms one cancels it.
 */
import { MAX_TIMER_MS, milliseconds } from '../model/index.ts';
import type { Clock } from '../model/index.ts';

/**
 * Unix time as the system tells it, adjustments included: for stamps, and for what is stored or compared with another
 * machine's stamps. A deadline read from it and kept across an adjustment is off by as much: see `steadyClock`.
 */
export const systemClock: Clock = clockOf(() => Date.now());

/**
 * Unix time as it was when the program started, and what has passed since: never set, never going back. For deadlines
 * and durations that live in memory; never for a stamp, nor for what outlives the program. Sleep of the machine may not
 * count.
 */
export const steadyClock: Clock = clockOf(() => Math.floor(performance.timeOrigin + performance.now()));

function clockOf(nowMs: () => number): Clock {
  return {
    now: () => milliseconds(nowMs()),
    wake(atMs, callback) {
      if (Number.isNaN(atMs)) throw new TypeError('wake: expected a time, found NaN');
      return wakeAfter(atMs - nowMs(), callback);
    },
  };
}

function wakeAfter(waitMs: number, callback: () => void): () => void {
  const dueMs = performance.now() + waitMs;
  let timer = arm();
  return () => {
    clearTimeout(timer);
  };

  function arm(): NodeJS.Timeout {
    const leftMs = Math.ceil(dueMs - performance.now());
    return setTimeout(onTimer, Math.min(Math.max(leftMs, 0), MAX_TIMER_MS));
  }

  function onTimer(): void {
    if (performance.now() >= dueMs) callback();
    else timer = arm();
  }
}
