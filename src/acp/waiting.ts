/** Waiting with the clock that was given, and never for longer than was said. */
import { later } from '../model/index.ts';
import type { Clock } from '../model/index.ts';

type Waited<T> = { readonly status: 'settled'; readonly value: T } | { readonly status: 'late' };

/** `promise` (which must not reject), or `late` after `ms`. Leaves no timer behind. */
export function within<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<Waited<T>> {
  return new Promise((resolve) => {
    const cancel = clock.wake(later(clock.now(), ms), () => {
      resolve({ status: 'late' });
    });
    void promise.then((value) => {
      cancel();
      resolve({ status: 'settled', value });
    });
  });
}

/** Resolves when everything that lay in a pipe at the call has been read: one whole round of the event loop. */
export function afterReading(): Promise<void> {
  return new Promise((resolve) => {
    // The first may come before this round's reads, the second comes after the next one's.
    setImmediate(() => setImmediate(resolve));
  });
}

export function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.wake(later(clock.now(), ms), resolve);
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
