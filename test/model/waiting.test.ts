import { describe, expect, it } from 'vitest';
import { milliseconds, pause, within } from '../../src/model/index.ts';
import type { Clock } from '../../src/model/index.ts';

const NOW = 1_000;

/** Rings what is armed when told to. */
function bell(): { readonly clock: Clock; readonly armed: readonly number[]; readonly ring: () => void } {
  const waits: { readonly atMs: number; readonly callback: () => void }[] = [];
  return {
    clock: {
      now: () => milliseconds(NOW),
      wake: (atMs, callback) => {
        const wait = { atMs, callback };
        waits.push(wait);
        return () => {
          const index = waits.indexOf(wait);
          if (index >= 0) waits.splice(index, 1);
        };
      },
    },
    get armed() {
      return waits.map(({ atMs }) => atMs);
    },
    ring: () => waits.shift()?.callback(),
  };
}

describe('within', () => {
  it('tells what was settled in time, and leaves no timer', async () => {
    const at = bell();
    const waited = within(at.clock, 50, Promise.resolve('done'));
    expect(at.armed).toEqual([NOW + 50]);
    expect(await waited).toEqual({ status: 'settled', value: 'done' });
    expect(at.armed).toEqual([]);
  });

  it('rejects as the promise does, and leaves no timer', async () => {
    const at = bell();
    await expect(within(at.clock, 50, Promise.reject(new Error('refused')))).rejects.toThrow('refused');
    expect(at.armed).toEqual([]);
  });

  it('is late after the time, whatever becomes of the promise then', async () => {
    const at = bell();
    let refuse: (error: Error) => void = () => undefined;
    const waited = within(at.clock, 50, new Promise<string>((_, reject) => { refuse = reject; }));
    at.ring();
    expect(await waited).toEqual({ status: 'late' });
    // Would end the test run as an unhandled rejection.
    refuse(new Error('too late'));
  });
});

describe('a pause', () => {
  it('ends at its time', async () => {
    const at = bell();
    const paused = pause(at.clock, 50, new AbortController().signal);
    expect(at.armed).toEqual([NOW + 50]);
    at.ring();
    await paused;
    expect(at.armed).toEqual([]);
  });

  it('ends when it is given up, and leaves no timer', async () => {
    const at = bell();
    const giveUp = new AbortController();
    const paused = pause(at.clock, 50, giveUp.signal);
    expect(at.armed).toHaveLength(1);
    giveUp.abort();
    await paused;
    expect(at.armed).toEqual([]);
  });

  it('does not begin when it was given up before', async () => {
    const at = bell();
    await pause(at.clock, 50, AbortSignal.abort());
    expect(at.armed).toEqual([]);
  });
});
