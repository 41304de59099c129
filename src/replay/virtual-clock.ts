/** A clock that stands still until it is set, and never goes back. Nothing waits on it: a replay looks ahead instead. */
import { milliseconds } from '../model/index.ts';
import type { Clock, Milliseconds } from '../model/index.ts';

export class VirtualClock implements Clock {
  #now = milliseconds(0);

  now(): Milliseconds {
    return this.#now;
  }

  set(atMs: number): void {
    if (atMs > this.#now) this.#now = milliseconds(atMs);
  }

  wake(): () => void {
    throw new TypeError('the virtual clock wakes nobody');
  }
}
