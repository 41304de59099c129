/**
 * The events that a session has read: what is not among them is new to it. Only what it certainly has is added. Bounded:
 * what was read longest ago is forgotten first, and would be shown again.
 */
import { asEventId } from '../../model/index.ts';
import type { EventId } from '../../model/index.ts';

/** More than one look at a conversation finds (200), with room for other threads of the channel. */
export const MAX_DELIVERED = 256;
const ID_CHARACTERS = 64;

export class DeliveredEvents {
  readonly #ids: Set<EventId>;

  constructor(ids: readonly EventId[] = []) {
    this.#ids = new Set(ids.slice(-MAX_DELIVERED));
  }

  get size(): number {
    return this.#ids.size;
  }

  has(id: EventId): boolean {
    return this.#ids.has(id);
  }

  /** What is read again counts as read now. */
  add(ids: readonly EventId[]): void {
    for (const id of ids) {
      this.#ids.delete(id);
      this.#ids.add(id);
    }
    for (const id of this.#ids) {
      if (this.#ids.size <= MAX_DELIVERED) return;
      this.#ids.delete(id);
    }
  }

  /** 64 characters an id, the one read last at the end. */
  text(): string {
    return [...this.#ids].join('');
  }
}

/** Of a text that another hand has changed, what are ids is taken. */
export function deliveredFrom(text: string): DeliveredEvents {
  const count = Math.floor(text.length / ID_CHARACTERS);
  const ids = Array.from({ length: count }, (_, at) => asEventId(text.slice(at * ID_CHARACTERS, (at + 1) * ID_CHARACTERS)));
  return new DeliveredEvents(ids.filter((id) => id !== undefined));
}
