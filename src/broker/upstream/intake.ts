/**
 * What comes from the relay, checked before anyone acts on it: the form, the filters that asked for it, whether it was
 * handed over before, and last (it costs most) id and signature. What fails is counted and dropped.
 */
import { matchesFilter, parseEvent, verifyEvent } from '../../nostr/index.ts';
import type { Filter, VerifiedEvent } from '../../nostr/index.ts';
import { SEEN_IDS } from './limits.ts';
import type { UpstreamCounters } from './ports.ts';
import { SeenEvents } from './seen.ts';

/** Who asked. `incarnation` is a number for a subscription, which gets an event once, and absent for a fetch. */
export interface Asker {
  readonly filters: readonly Filter[];
  readonly incarnation?: number;
  /** Told of a true event that `since` or `until` alone keeps out. */
  readonly outside?: () => void;
}

export class Intake {
  readonly #seen = new SeenEvents(SEEN_IDS);
  readonly #counts = { ignored: 0, invalid: 0, unmatched: 0, duplicates: 0 };

  counts(): Omit<UpstreamCounters, 'dropped'> {
    return { ...this.#counts };
  }

  ignore(): void {
    this.#counts.ignored += 1;
  }

  /** The event, when all of it holds. */
  check(value: unknown, asker: Asker | undefined): VerifiedEvent | undefined {
    const parsed = parseEvent(value);
    if (!parsed.ok) return this.#drop('invalid');
    const { event } = parsed;
    if (asker?.filters.some((filter) => matchesFilter(filter, event)) !== true) {
      if (asker?.outside !== undefined && asker.filters.some((filter) => matchesFilter(boundless(filter), event)) && verifyEvent(event).ok) asker.outside();
      return this.#drop('unmatched');
    }
    const { incarnation } = asker;
    // Checked before the signature: a copy is dropped either way, whoever made it.
    if (incarnation !== undefined && this.#seen.has(event.id, incarnation)) return this.#drop('duplicates');
    const verified = verifyEvent(event);
    return verified.ok ? verified.event : this.#drop('invalid');
  }

  /** The event is on its way to the subscription; one that was only checked may come again. */
  handedOver(event: VerifiedEvent, incarnation: number): void {
    this.#seen.add(event.id, incarnation);
  }

  #drop(why: 'invalid' | 'unmatched' | 'duplicates'): undefined {
    this.#counts[why] += 1;
    return undefined;
  }
}

function boundless(filter: Filter): Filter {
  return { ...filter, since: 0, until: Infinity };
}
