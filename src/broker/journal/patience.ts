/** Waiting for a promise no longer than a stated time, on the clock of the composition root. */
import { later } from '../../model/index.ts';
import type { Clock } from '../../model/index.ts';

/** What `promise` resolves to, or undefined after `timeoutMs`. The promise itself goes on. */
export function within<T>(promise: Promise<T>, timeoutMs: number, clock: Clock): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const cancel = clock.wake(later(clock.now(), timeoutMs), () => {
      resolve(undefined);
    });
    promise.then(resolve, reject).finally(cancel);
  });
}
