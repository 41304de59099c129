/** A clock that stands still until it is pushed. */
import { later, milliseconds } from '../../src/model/index.ts';
import type { Clock, Milliseconds } from '../../src/model/index.ts';

/** 2026-01-01T00:00:00Z. */
export const START_MS = 1_767_225_600_000;

export class HeldClock implements Clock {
  #nowMs: Milliseconds = milliseconds(START_MS);
  readonly #alarms = new Set<{ readonly atMs: Milliseconds; readonly callback: () => void }>();
  readonly #watchers = new Set<() => void>();

  now(): Milliseconds {
    return this.#nowMs;
  }

  wake(atMs: Milliseconds, callback: () => void): () => void {
    const alarm = { atMs, callback };
    this.#alarms.add(alarm);
    for (const watcher of this.#watchers) watcher();
    return () => {
      this.#alarms.delete(alarm);
    };
  }

  get alarms(): number {
    return this.#alarms.size;
  }

  /** Resolves when somebody waits for a moment within the next `withinMs`. */
  armed(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (![...this.#alarms].some(({ atMs }) => atMs <= this.#nowMs + withinMs)) return;
        this.#watchers.delete(look);
        resolve();
      };
      this.#watchers.add(look);
      look();
    });
  }

  push(byMs: number): void {
    this.#nowMs = later(this.#nowMs, byMs);
    for (const alarm of [...this.#alarms].filter(({ atMs }) => atMs <= this.#nowMs)) {
      this.#alarms.delete(alarm);
      alarm.callback();
    }
  }
}
