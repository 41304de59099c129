/** What one-off requests have collected so far, and the promises that wait for it. */
import type { EventId } from '../../model/index.ts';
import { newestFirst } from '../../nostr/index.ts';
import type { PagedFilter, VerifiedEvent } from '../../nostr/index.ts';
import type { FetchResult } from '../ports.ts';
import type { Asker } from './intake.ts';
import { MAX_FETCH_EVENTS } from './limits.ts';

interface Fetch {
  readonly filters: readonly PagedFilter[];
  readonly events: Map<EventId, VerifiedEvent>;
  isUnbounded: boolean;
  readonly resolve: (result: FetchResult) => void;
}

export class Fetches {
  readonly #open = new Map<string, Fetch>();

  get size(): number {
    return this.#open.size;
  }

  begin(id: string, filters: readonly PagedFilter[], resolve: (result: FetchResult) => void): void {
    this.#open.set(id, { filters, events: new Map(), isUnbounded: false, resolve });
  }

  /** Its filters, and who is told of what lies outside of them: once, as each such event costs a signature. */
  asker(id: string): Asker | undefined {
    const fetch = this.#open.get(id);
    return fetch && { filters: fetch.filters, ...(!fetch.isUnbounded && { outside: () => { fetch.isUnbounded = true; } }) };
  }

  /** False when it has as many as it may have. */
  collect(id: string, event: VerifiedEvent): boolean {
    const events = this.#open.get(id)?.events;
    events?.set(event.id, event);
    return events === undefined || events.size < MAX_FETCH_EVENTS;
  }

  finish(id: string, complete: boolean, refusal?: string): void {
    const fetch = this.#open.get(id);
    if (fetch === undefined) return;
    this.#open.delete(id);
    const events = [...fetch.events.values()].sort(newestFirst);
    fetch.resolve({
      events, complete, ...(refusal !== undefined && { refusal }), ...(fetch.isUnbounded && { unbounded: true }),
    });
  }
}
