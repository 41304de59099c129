/**
 * How much each agent may send in any one second, on however many connections: the times of the last ones, and nothing
 * of what was sent. Knows no clock; it is told the time.
 */
import type { Milliseconds } from '../model/index.ts';

const WINDOW_MS = 1_000;
/** Agents remembered before those that have been quiet are forgotten. */
const SWEEP_AT = 1_024;

export class Pace {
  readonly #perSec: number;
  readonly #sent = new Map<string, readonly Milliseconds[]>();

  constructor(perSec: number) {
    this.#perSec = perSec;
  }

  get remembered(): number {
    return this.#sent.size;
  }

  /** Takes one, or says that there is none left in this second. */
  take(agent: string, nowMs: Milliseconds): boolean {
    const recent = (this.#sent.get(agent) ?? []).filter((atMs) => isRecent(atMs, nowMs));
    if (recent.length >= this.#perSec) return false;
    if (this.#sent.size >= SWEEP_AT && !this.#sent.has(agent)) this.#sweep(nowMs);
    this.#sent.set(agent, [...recent, nowMs]);
    return true;
  }

  #sweep(nowMs: Milliseconds): void {
    for (const [agent, times] of this.#sent) {
      if (!times.some((atMs) => isRecent(atMs, nowMs))) this.#sent.delete(agent);
    }
  }
}

function isRecent(atMs: Milliseconds, nowMs: Milliseconds): boolean {
  return nowMs - atMs < WINDOW_MS;
}
