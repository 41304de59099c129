/** The steady clock that a test can set forward: a long bound then ends without waiting, and no short one by a slow machine. */
import { later, milliseconds } from '../../src/model/index.ts';
import type { Clock, Milliseconds } from '../../src/model/index.ts';
import { steadyClock } from '../../src/system/index.ts';

interface Waiting {
  readonly atMs: Milliseconds;
  readonly ring: () => void;
}

export class LeapClock implements Clock {
  #aheadMs = 0;
  readonly #waiting = new Set<Waiting>();

  now(): Milliseconds {
    return later(steadyClock.now(), this.#aheadMs);
  }

  wake(atMs: Milliseconds, callback: () => void): () => void {
    const end = steadyClock.wake(milliseconds(Math.max(0, atMs - this.#aheadMs)), () => { waiting.ring(); });
    const cancel = (): void => {
      end();
      this.#waiting.delete(waiting);
    };
    const waiting: Waiting = { atMs, ring: () => { cancel(); callback(); } };
    this.#waiting.add(waiting);
    return cancel;
  }

  leap(ms: number): void {
    this.#aheadMs += ms;
    for (const { atMs, ring } of [...this.#waiting]) if (atMs <= this.now()) ring();
  }
}
