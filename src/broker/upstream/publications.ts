/** Publications under way: the promise that waits for each, by its ticket, and what it is told of the end. */
import { unreachable } from '../../model/index.ts';
import type { EventId } from '../../model/index.ts';
import type { PublishOutcome } from '../ports.ts';
import type { Settlement } from './outbox.ts';

export class Publications {
  readonly #open = new Map<number, (settlement: Settlement) => void>();
  #dropped = 0;

  /** Given up because too many waited, or the relay read too slowly; since the connection was opened. */
  get dropped(): number {
    return this.#dropped;
  }

  begin(ticket: number, eventId: EventId, resolve: (outcome: PublishOutcome) => void): void {
    this.#open.set(ticket, (settlement) => { resolve(outcomeOf(settlement, eventId)); });
  }

  settle(ticket: number, settlement: Settlement): void {
    if (settlement.status === 'dropped') this.#dropped += 1;
    this.#open.get(ticket)?.(settlement);
    this.#open.delete(ticket);
  }
}

function outcomeOf(settlement: Settlement, eventId: EventId): PublishOutcome {
  switch (settlement.status) {
    case 'accepted':
      return { status: 'accepted', eventId };
    case 'rejected':
      return { status: 'rejected', eventId, reason: settlement.reason };
    case 'unknown':
      return { status: 'unknown', eventId, reason: settlement.reason };
    case 'dropped':
      return { status: 'unknown', eventId, reason: `dropped: ${settlement.reason}` };
    default:
      return unreachable(settlement);
  }
}
