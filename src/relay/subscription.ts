/**
 * One subscription between REQ and CLOSE. An event is either stored or live for it, never both and never neither:
 * stored up to the place its replay was cut at, live beyond it.
 *
 *   status      a matching live event      end of the replay
 *   replaying   held                       EOSE, then what is held beyond the cut; from then on live
 *   live        sent
 */
import type { UnverifiedEvent } from '../nostr/index.ts';
import { eventText } from './answers.ts';
import type { Entry } from './archive.ts';
import type { Query } from './messages.ts';
import { matchesQuery } from './query.ts';

/** An accepted event on its way out. `seq` is its place in the store, undefined for what is never stored. */
export interface Delivery extends Entry {
  readonly seq: number | undefined;
}

export class Subscription {
  readonly id: string;
  readonly queries: readonly Query[];
  #held: Delivery[] = [];
  #heldLength = 0;
  #status: 'replaying' | 'live' = 'replaying';

  constructor(id: string, queries: readonly Query[]) {
    this.id = id;
    this.queries = queries;
  }

  /** Characters held back during the replay; the connection bounds them together with what its socket has not sent. */
  get heldLength(): number {
    return this.#heldLength;
  }

  wants(event: UnverifiedEvent): boolean {
    // NIP-50: a search is a question about what is stored.
    return this.queries.some((query) => query.search === undefined && matchesQuery(query, event));
  }

  /** Takes a live event that it wants; returns the text to send now, if any. */
  offer(delivery: Delivery): string | undefined {
    if (this.#status === 'live') return eventText(this.id, delivery.json);
    this.#held.push(delivery);
    this.#heldLength += delivery.json.length;
    return undefined;
  }

  /** Ends the replay that was cut at `cutSeq`; returns the held texts it cannot have shown, in the order they came. */
  goLive(cutSeq: number): readonly string[] {
    const beyond = this.#held.filter(({ seq }) => seq === undefined || seq > cutSeq);
    this.#status = 'live';
    this.#held = [];
    this.#heldLength = 0;
    return beyond.map(({ json }) => eventText(this.id, json));
  }
}
