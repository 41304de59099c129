/** A clock that stands still until it is pushed. */
import { milliseconds } from '../../src/model/index.ts';
import type { Clock, Milliseconds } from '../../src/model/index.ts';

export class HandClock implements Clock {
  #nowMs = 1_700_000_000_000;
  #waiting: { readonly atMs: number; readonly callback: () => void }[] = [];

  now(): Milliseconds {
    return milliseconds(this.#nowMs);
  }

  wake(atMs: Milliseconds, callback: () => void): () => void {
    const entry = { atMs, callback };
    this.#waiting.push(entry);
    return () => { this.#waiting = this.#waiting.filter((one) => one !== entry); };
  }

  get armed(): number {
    return this.#waiting.length;
  }

  /** Whether somebody waits for exactly this long from now. */
  waits(ms: number): boolean {
    return this.#waiting.some((one) => one.atMs === this.#nowMs + ms);
  }

  push(ms: number): void {
    this.#nowMs += ms;
    const due = this.#waiting.filter((one) => one.atMs <= this.#nowMs);
    this.#waiting = this.#waiting.filter((one) => one.atMs > this.#nowMs);
    for (const { callback } of due) callback();
  }
}
