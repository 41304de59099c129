/** Waiting on the clock that was given, and never for longer than was said. No timer is left behind. */
import { later } from './time.ts';
import type { Clock } from './time.ts';

export type Waited<T> = { readonly status: 'settled'; readonly value: T } | { readonly status: 'late' };

/** What `promise` resolves to, or `late` after `ms`; rejects as it does until then. The promise itself goes on. */
export function within<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<Waited<T>> {
  return new Promise((resolve, reject) => {
    const cancel = clock.wake(later(clock.now(), ms), () => {
      resolve({ status: 'late' });
    });
    promise.then(
      (value) => {
        cancel();
        resolve({ status: 'settled', value });
      },
      (error: unknown) => {
        cancel();
        reject(error);
      },
    );
  });
}

/** Resolves after `ms`, or at once when `signal` aborts or has aborted. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    const cancel = clock.wake(later(clock.now(), ms), done);
    signal?.addEventListener('abort', done, { once: true });

    function done(): void {
      signal?.removeEventListener('abort', done);
      cancel();
      resolve();
    }
  });
}

/** A promise and the function that settles it; calls after the first change nothing. */
export function settleable<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let settle: ((value: T) => void) | undefined;
  const promise = new Promise<T>((resolve) => {
    settle = resolve;
  });
  return { promise, resolve: (value) => settle?.(value) };
}
