import { describe, expect, it } from 'vitest';
import { milliseconds } from '../../src/model/index.ts';
import { limitDelayMs, mayBegin, stepLimit } from '../../src/supervisor/limit-machine.ts';
import type { LimitInput, LimitState } from '../../src/supervisor/limit-machine.ts';

const at = milliseconds;
const NOW = at(1_000_000);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const free: LimitState = { status: 'free' };
/** Its time has come. */
const due: LimitState = { status: 'held', times: 2, until: at(900_000) };
const waits: LimitState = { status: 'held', times: 2, until: at(1_300_000) };
const limited = (beganAt: number, retryAfterMs?: number): LimitInput => ({ type: 'limited', beganAt: at(beganAt), jitter: 0, ...(retryAfterMs !== undefined && { retryAfterMs }) });
const worked = (beganAt: number): LimitInput => ({ type: 'worked', beganAt: at(beganAt) });

describe('the limit of a provider', () => {
  it.each<readonly [string, LimitState, LimitInput, LimitState]>([
    ['free, limited', free, limited(990_000), { status: 'held', times: 1, until: at(1_060_000) }],
    ['free, limited with a word', free, limited(990_000, 5_000), { status: 'held', times: 1, until: at(1_005_000) }],
    ['free, worked', free, worked(990_000), free],
    ['held, limited again when tried', due, limited(950_000), { status: 'held', times: 3, until: at(1_240_000) }],
    ['held, limited by one of before', waits, limited(800_000), waits],
    ['held, limited by one of before that knows more', waits, limited(800_000, HOUR), { status: 'held', times: 2, until: at(4_600_000) }],
    ['held, worked when tried', due, worked(950_000), free],
    ['held, worked, begun before', waits, worked(800_000), waits],
  ])('%s', (_, state, input, next) => {
    expect(stepLimit(state, input, NOW)).toEqual(next);
  });

  it('lets one turn try when its time has come, and none before', () => {
    expect([mayBegin(free, 5, NOW), mayBegin(waits, 0, NOW), mayBegin(due, 0, NOW), mayBegin(due, 1, NOW)]).toEqual([true, false, true, false]);
  });

  it('is tried later each time, up to hours, and never before the provider said', () => {
    const delays = Array.from({ length: 12 }, (_, index) => limitDelayMs({ times: index + 1, jitter: 0 }) / MINUTE);
    expect(delays).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 240, 240, 240, 240]);
    expect(limitDelayMs({ times: 1, jitter: 0.999_999 })).toBe(72_000);
    expect(limitDelayMs({ times: 1, jitter: 0, retryAfterMs: 2_000 })).toBe(2_000);
    expect(limitDelayMs({ times: 3, jitter: 0, retryAfterMs: 2_000 })).toBe(4 * MINUTE);
    expect(limitDelayMs({ times: 3, jitter: 0, retryAfterMs: 5 * HOUR })).toBe(5 * HOUR);
    expect(limitDelayMs({ times: 1, jitter: 0, retryAfterMs: 100 * HOUR })).toBe(24 * HOUR);
    expect(limitDelayMs({ times: 1_000, jitter: 0 })).toBe(4 * HOUR);
  });
});
