/** A clock that the test pushes. Wakes run in the order of their times, each at its own moment. */
import { milliseconds } from '../../../src/model/index.ts';
import type { Clock, Milliseconds, Random } from '../../../src/model/index.ts';

export class TestClock implements Clock {
  #nowMs: number;
  #wakes: { readonly atMs: number; readonly callback: () => void }[] = [];

  constructor(startMs = 1_800_000_000_000) {
    this.#nowMs = startMs;
  }

  now(): Milliseconds {
    return milliseconds(this.#nowMs);
  }

  get nowSec(): number {
    return Math.floor(this.#nowMs / 1000);
  }

  wake(atMs: Milliseconds, callback: () => void): () => void {
    const wake = { atMs, callback };
    this.#wakes.push(wake);
    return () => {
      this.#wakes = this.#wakes.filter((other) => other !== wake);
    };
  }

  advance(byMs: number): void {
    const untilMs = this.#nowMs + byMs;
    for (let next = this.#due(untilMs); next !== undefined; next = this.#due(untilMs)) {
      const wake = next;
      this.#wakes = this.#wakes.filter((other) => other !== wake);
      this.#nowMs = Math.max(this.#nowMs, wake.atMs);
      wake.callback();
    }
    this.#nowMs = untilMs;
  }

  /** Wakes armed and not rung. */
  get armed(): number {
    return this.#wakes.length;
  }

  #due(untilMs: number): { readonly atMs: number; readonly callback: () => void } | undefined {
    return this.#wakes.filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0];
  }
}

/** The middle of every jitter. */
export const evenRandom: Random = { bytes: (count) => new Uint8Array(count), fraction: () => 0.5 };

/** Waits until `holds` is true: for things that another socket or promise has to bring about. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!await holds()) await new Promise((resolve) => setTimeout(resolve, 1));
}
