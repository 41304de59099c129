/**
 * The ids of frames that were taken, for as long as a relay could hand one of them over again; the only place with the
 * SQL of table `control_frames`. A frame that cancels must not cancel twice, not after a restart either.
 */
import { asEventId, seconds } from '../../model/index.ts';
import type { EventId, Pubkey, Seconds } from '../../model/index.ts';
import { sql } from '../../store/index.ts';
import type { Store } from '../../store/index.ts';
import { FRESH_SEC } from './frame.ts';

/** Twice the window in which a frame is fresh: our clock may be set meanwhile. */
const KEEP_SEC = 2 * FRESH_SEC;
/** Between two looks for what need not be kept any more. */
const PRUNE_SEC = 60;

export class TakenFrames {
  readonly #store: Pick<Store, 'write'>;
  readonly #agent: Pubkey;
  readonly #until: Map<EventId, Seconds>;
  #prunedAt: Seconds;

  private constructor(store: Pick<Store, 'write'>, agent: Pubkey, until: Map<EventId, Seconds>, now: Seconds) {
    this.#store = store;
    this.#agent = agent;
    this.#until = until;
    this.#prunedAt = now;
  }

  /** What earlier runs took. Rejects with the store's `Failure`. */
  static async load(store: Pick<Store, 'read' | 'write'>, agent: Pubkey, now: Seconds): Promise<TakenFrames> {
    const rows = await store.read(sql(
      'SELECT event_id, keep_until_sec FROM control_frames WHERE agent = ? AND keep_until_sec >= ?', agent, now,
    ));
    const until = rows.flatMap(({ event_id: id, keep_until_sec: sec }) => {
      const known = typeof id === 'string' ? asEventId(id) : undefined;
      return known === undefined || typeof sec !== 'number' ? [] : [[known, seconds(sec)] as const];
    });
    return new TakenFrames(store, agent, new Map(until), now);
  }

  has(id: EventId): boolean {
    return this.#until.has(id);
  }

  /** Known from the call on, on disk when it resolves. Rejects with the store's `Failure`. */
  async keep(id: EventId, createdAt: Seconds, now: Seconds): Promise<void> {
    const keepUntil = seconds(createdAt + KEEP_SEC);
    this.#until.set(id, keepUntil);
    const insert = sql(
      'INSERT OR IGNORE INTO control_frames (agent, event_id, keep_until_sec) VALUES (?, ?, ?)', this.#agent, id, keepUntil,
    );
    await this.#store.write(...this.#prune(now), insert);
  }

  #prune(now: Seconds): readonly ReturnType<typeof sql>[] {
    if (Math.abs(now - this.#prunedAt) < PRUNE_SEC) return [];
    this.#prunedAt = now;
    for (const [id, until] of this.#until) if (until < now) this.#until.delete(id);
    return [sql('DELETE FROM control_frames WHERE agent = ? AND keep_until_sec < ?', this.#agent, now)];
  }
}
