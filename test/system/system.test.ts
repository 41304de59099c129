import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { later, MAX_TIMER_MS, milliseconds } from '../../src/model/index.ts';
import { systemClock, systemRandom } from '../../src/system/index.ts';

describe('the clock', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
  afterEach(() => void vi.useRealTimers());

  it('wakes once, at its time and not before', () => {
    const woken = vi.fn();
    systemClock.wake(later(systemClock.now(), 50), woken);
    vi.advanceTimersByTime(49);
    expect(woken).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(woken).toHaveBeenCalledOnce();
    vi.advanceTimersByTime(1_000_000);
    expect(woken).toHaveBeenCalledOnce();
  });

  it.each([['just over one timer', MAX_TIMER_MS + 1], ['2^31 ms', 2 ** 31], ['a year', 365 * 86_400_000]])(
    'holds a wait of %s',
    (_, waitMs) => {
      const woken = vi.fn();
      systemClock.wake(later(systemClock.now(), waitMs), woken);
      vi.advanceTimersByTime(waitMs - 1);
      expect(woken).not.toHaveBeenCalled();
      vi.advanceTimersByTime(1);
      expect(woken).toHaveBeenCalledOnce();
    },
  );

  it('never wakes when cancelled, in the first slice or a later one', () => {
    const woken = vi.fn();
    systemClock.wake(later(systemClock.now(), 10), woken)();
    const cancel = systemClock.wake(later(systemClock.now(), MAX_TIMER_MS * 3), woken);
    vi.advanceTimersByTime(MAX_TIMER_MS * 2);
    cancel();
    vi.advanceTimersByTime(MAX_TIMER_MS * 2);
    expect(woken).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('waits on when the wall clock was set back meanwhile', () => {
    const woken = vi.fn();
    systemClock.wake(later(systemClock.now(), 1_000), woken);
    vi.setSystemTime(1_000_000 - 5_000);
    vi.advanceTimersByTime(1_000);
    expect(woken).not.toHaveBeenCalled();
    vi.advanceTimersByTime(5_000);
    expect(woken).toHaveBeenCalledOnce();
  });

  it('wakes for a time that has passed, but never within the call', () => {
    const woken = vi.fn();
    systemClock.wake(milliseconds(0), woken);
    expect(woken).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(woken).toHaveBeenCalledOnce();
  });

  it('refuses a time that is none', () => {
    expect(() => systemClock.wake(milliseconds(Number.NaN), () => undefined)).toThrow('found NaN');
  });
});

describe('the randomness', () => {
  it('gives the bytes asked for, never the same', () => {
    const [one, two] = [systemRandom.bytes(32), systemRandom.bytes(32)];
    expect(one).toHaveLength(32);
    expect(one).not.toEqual(two);
    expect(Object.getPrototypeOf(one)).toBe(Uint8Array.prototype);
  });

  it('gives fractions from 0 up to 1', () => {
    for (let i = 0; i < 100; i += 1) {
      const fraction = systemRandom.fraction();
      expect(fraction >= 0 && fraction < 1).toBe(true);
    }
  });
});
