/**
 * What the turns of one process use: a meter for each session, and what the agent says put to the right one. Bounded:
 * the sessions prompted least recently are forgotten first.
 */
import type { UsageShape } from '../../adapters/index.ts';
import { beginTurn, endTurn, hear, openMeter } from '../metrics/index.ts';
import type { ObservedUsage, SessionMeter, UsageWord } from '../metrics/index.ts';

/** More than anybody keeps for use, so that no session that goes on loses its count. */
const MAX_METERS = 1_024;

export class UsageBook {
  readonly #shape: UsageShape;
  readonly #meters = new Map<string, SessionMeter>();

  constructor(shape: UsageShape) {
    this.#shape = shape;
  }

  /** A session that begins now: it has used nothing yet. */
  opened(sessionId: string): void {
    // What the agent said while it opened it may be there already.
    this.#keep(sessionId, this.#meters.get(sessionId) ?? openMeter(this.#shape));
  }

  /** A session of an earlier process: what it has used is not known, unless the agent says so while it is opened. */
  reopened(sessionId: string, turnSeq: number): void {
    const meter = this.#meters.get(sessionId) ?? openMeter(this.#shape, false);
    this.#keep(sessionId, { ...meter, turnSeq: Math.max(meter.turnSeq, turnSeq) });
  }

  /** A prompt goes out. */
  begin(sessionId: string): void {
    this.#keep(sessionId, beginTurn(this.#meters.get(sessionId) ?? openMeter(this.#shape, false)));
  }

  heard(sessionId: string, word: UsageWord): void {
    const meter = this.#meters.get(sessionId) ?? openMeter(this.#shape);
    const next = hear(meter, word);
    if (next === meter) return;
    this.#meters.set(sessionId, next);
    this.#forgetOldest();
  }

  /** Of the turn that ends; undefined where nothing was told of it, and where none was begun. */
  end(sessionId: string): ObservedUsage | undefined {
    const open = this.#meters.get(sessionId);
    if (open === undefined) return undefined;
    const { meter, usage } = endTurn(open);
    this.#meters.set(sessionId, meter);
    return usage;
  }

  #keep(sessionId: string, meter: SessionMeter): void {
    this.#meters.delete(sessionId);
    this.#meters.set(sessionId, meter);
    this.#forgetOldest();
  }

  #forgetOldest(): void {
    const [oldest] = this.#meters.keys();
    if (this.#meters.size > MAX_METERS && oldest !== undefined) this.#meters.delete(oldest);
  }
}
