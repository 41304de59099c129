import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { later, MAX_TIMER_MS, milliseconds } from '../../src/model/index.ts';
import { steadyClock, systemClock, systemRandom } from '../../src/system/index.ts';

const HOUR_MS = 3_600_000;

describe.each([['system', systemClock], ['steady', steadyClock]])('the %s clock', (_name, clock) => {
  beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
  afterEach(() => void vi.useRealTimers());

  it('wakes once, at its time and not before', () => {
    const woken = vi.fn();
    clock.wake(later(clock.now(), 50), woken);
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
      clock.wake(later(clock.now(), waitMs), woken);
      vi.advanceTimersByTime(waitMs - 1);
      expect(woken).not.toHaveBeenCalled();
      vi.advanceTimersByTime(1);
      expect(woken).toHaveBeenCalledOnce();
    },
  );

  it('never wakes when cancelled, in the first slice or a later one', () => {
    const woken = vi.fn();
    clock.wake(later(clock.now(), 10), woken)();
    const cancel = clock.wake(later(clock.now(), MAX_TIMER_MS * 3), woken);
    vi.advanceTimersByTime(MAX_TIMER_MS * 2);
    cancel();
    vi.advanceTimersByTime(MAX_TIMER_MS * 2);
    expect(woken).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([['back', -HOUR_MS], ['forward', HOUR_MS]])(
    'waits as long as it was told when the wall clock is set %s meanwhile',
    (_, jumpMs) => {
      const woken = vi.fn();
      clock.wake(later(clock.now(), 1_000), woken);
      clock.wake(later(clock.now(), MAX_TIMER_MS + 1_000), woken);
      vi.advanceTimersByTime(400);
      vi.setSystemTime(Date.now() + jumpMs);
      vi.advanceTimersByTime(599);
      expect(woken).not.toHaveBeenCalled();
      vi.advanceTimersByTime(1);
      expect(woken).toHaveBeenCalledOnce();
      vi.advanceTimersByTime(MAX_TIMER_MS - 1);
      expect(woken).toHaveBeenCalledOnce();
      vi.advanceTimersByTime(1);
      expect(woken).toHaveBeenCalledTimes(2);
    },
  );

  it('is at its time when it wakes, in fractions of a millisecond too', () => {
    vi.advanceTimersByTime(0.7);
    const atMs = later(clock.now(), 10);
    const times: number[] = [];
    clock.wake(atMs, () => times.push(clock.now()));
    vi.advanceTimersByTime(20);
    expect(times).toHaveLength(1);
    expect(times[0]).toBeGreaterThanOrEqual(atMs);
  });

  it('wakes for a time that has passed, but never within the call', () => {
    const woken = vi.fn();
    clock.wake(milliseconds(0), woken);
    expect(woken).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(woken).toHaveBeenCalledOnce();
  });

  it('refuses a time that is none', () => {
    expect(() => clock.wake(milliseconds(Number.NaN), () => undefined)).toThrow('found NaN');
  });
});

describe('after the wall clock was set', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 10 * HOUR_MS }));
  afterEach(() => void vi.useRealTimers());

  it.each([['back', -HOUR_MS], ['forward', HOUR_MS]])('%s, stamps follow it and deadlines do not', (_, jumpMs) => {
    const [stampMs, deadlineMs] = [systemClock.now(), steadyClock.now()];
    expect(deadlineMs).toBe(stampMs);
    vi.setSystemTime(stampMs + jumpMs);
    vi.advanceTimersByTime(1_000);
    expect(systemClock.now() - stampMs).toBe(jumpMs + 1_000);
    expect(steadyClock.now() - deadlineMs).toBe(1_000);
  });

  it('a wait armed then is as long as any', () => {
    vi.setSystemTime(9 * HOUR_MS);
    const woken = vi.fn();
    for (const clock of [systemClock, steadyClock]) clock.wake(later(clock.now(), 50), woken);
    vi.advanceTimersByTime(49);
    expect(woken).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(woken).toHaveBeenCalledTimes(2);
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
