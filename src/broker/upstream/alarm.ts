/** One armed moment of a clock: setting it again moves it, and it rings once. */
import type { Clock, Milliseconds } from '../../model/index.ts';

export class Alarm {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #atMs: Milliseconds | undefined;
  #cancel = (): void => {};

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** Rings at `atMs`, instead of when it would have; undefined: not at all. */
  set(atMs: Milliseconds | undefined): void {
    if (atMs === this.#atMs) return;
    this.#cancel();
    this.#atMs = atMs;
    this.#cancel = atMs === undefined ? () => {} : this.#clock.wake(atMs, () => {
      this.#atMs = undefined;
      this.#ring();
    });
  }
}
