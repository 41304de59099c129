/** The turns under way of one agent, and the waiting for their ends. */
import { later } from '../model/index.ts';
import type { ChannelId, Clock } from '../model/index.ts';
import type { Flight } from './flight.ts';
import { entriesOf } from './inbox/entry.ts';
import type { LaneInLife } from './pool.ts';
import type { AgentSnapshot } from './snapshot.ts';

export class Flights {
  readonly #flying = new Map<string, { readonly flight: Flight; readonly landed: Promise<void> }>();

  get size(): number {
    return this.#flying.size;
  }

  /** `landed` is the end of the turn, which never rejects. */
  add(flight: Flight, landed: Promise<void>): void {
    this.#flying.set(flight.batch.turnId, { flight, landed });
  }

  remove(turnId: string): void {
    this.#flying.delete(turnId);
  }

  find(turnId: string): Flight | undefined {
    return this.#flying.get(turnId)?.flight;
  }

  in(channelId: ChannelId): readonly Flight[] {
    return [...this.#flying.values()].flatMap(({ flight }) => (flight.batch.channelId === channelId ? [flight] : []));
  }

  /** The lanes that are in a turn, each in its process. */
  lanes(): readonly LaneInLife[] {
    return [...this.#flying.values()].map(({ flight: { batch: { lane }, life } }) => ({ lane, life }));
  }

  cutAllShort(): void {
    for (const { flight } of this.#flying.values()) flight.cutShort('again');
  }

  /** Resolves when every turn under way has ended; after `graceMs` they are cut short. */
  async drain(clock: Clock, graceMs: number): Promise<void> {
    if (this.#flying.size === 0) return;
    const cancel = clock.wake(later(clock.now(), graceMs), () => { this.cutAllShort(); });
    await Promise.all([...this.#flying.values()].map(({ landed }) => landed));
    cancel();
  }

  snapshot(): AgentSnapshot['turns'] {
    return [...this.#flying.values()].map(({ flight: { batch, startedAtMs, steers } }) => ({
      turnId: batch.turnId, channelId: batch.channelId, sinceMs: startedAtMs, events: entriesOf(batch).length + steers.given.length,
    }));
  }
}
