/** Counting signals. They are emitted, not sent: the real ones are in `up.test.ts`. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { exitCodeFor, watchSignals } from '../../src/cli/signals.ts';

let told: string[] = [];
let stop = (): void => undefined;

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000, toFake: ['Date'] });
  told = [];
  stop = watchSignals({
    first: (signal) => told.push(`first ${signal}`),
    second: (signal) => told.push(`second ${signal}`),
  });
});

afterEach(() => {
  stop();
  vi.useRealTimers();
});

function signalAt(atMs: number, signal: 'SIGINT' | 'SIGHUP'): void {
  vi.setSystemTime(1_000_000 + atMs);
  process.emit(signal, signal);
}

it('takes the same signal twice at once for one wish', () => {
  signalAt(0, 'SIGINT');
  signalAt(299, 'SIGINT');
  expect(told).toEqual(['first SIGINT']);
});

it('takes the same signal later for the second', () => {
  signalAt(0, 'SIGINT');
  signalAt(300, 'SIGINT');
  expect(told).toEqual(['first SIGINT', 'second SIGINT']);
});

it('takes another signal at once for the second', () => {
  signalAt(0, 'SIGINT');
  signalAt(0, 'SIGHUP');
  expect(told).toEqual(['first SIGINT', 'second SIGHUP']);
});

it('leaves the process as it was when it is stopped', () => {
  const before = process.listenerCount('SIGHUP');
  stop();
  expect(process.listenerCount('SIGHUP')).toBe(before - 1);
});

it('counts exit codes as a shell does', () => {
  expect((['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map(exitCodeFor)).toEqual([130, 143, 129]);
});
