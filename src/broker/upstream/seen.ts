/**
 * Which events were handed to which subscription, in bounded memory: two generations, the older one thrown away when
 * the newer is full. Forgetting means that an event may be handed over again, which every consumer has to bear.
 */
import type { EventId } from '../../model/index.ts';

export class SeenEvents {
  readonly #perGeneration: number;
  #newer = new Map<EventId, number>();
  #older = new Map<EventId, number>();

  constructor(capacity: number) {
    this.#perGeneration = Math.ceil(capacity / 2);
  }

  /** True when the event was last handed to this very subscription. */
  has(id: EventId, subscription: number): boolean {
    return (this.#newer.get(id) ?? this.#older.get(id)) === subscription;
  }

  add(id: EventId, subscription: number): void {
    this.#newer.set(id, subscription);
    if (this.#newer.size < this.#perGeneration) return;
    this.#older = this.#newer;
    this.#newer = new Map();
  }
}
