/** Closes sessions that no turn has used for a while. One timer, for the one that was used first. */
import { later, milliseconds } from '../../model/index.ts';
import type { Clock, Milliseconds } from '../../model/index.ts';

export interface IdleParts {
  /** That nobody sets. */
  readonly clock: Clock;
  /** 0 for never. */
  readonly idleMs: number;
  /** Closes what was used last at `beforeMs` or earlier; says when the one used first of the rest was. */
  readonly close: (beforeMs: Milliseconds) => Milliseconds | undefined;
}

export class IdleSessions {
  readonly #parts: IdleParts;
  #disarm: (() => void) | undefined;
  #isClosed = false;

  constructor(parts: IdleParts) {
    this.#parts = parts;
  }

  /** A session was used. */
  used(): void {
    if (this.#disarm === undefined) this.#arm(this.#parts.clock.now());
  }

  /** Twice is once. */
  close(): void {
    this.#isClosed = true;
    this.#disarm?.();
  }

  #arm(sinceMs: Milliseconds): void {
    const { clock, idleMs, close } = this.#parts;
    if (this.#isClosed || idleMs === 0) return;
    this.#disarm = clock.wake(later(sinceMs, idleMs), () => {
      this.#disarm = undefined;
      const next = close(milliseconds(clock.now() - idleMs));
      if (next !== undefined) this.#arm(next);
    });
  }
}
