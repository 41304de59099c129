/** What the journal is asked to do, what it needs of the relay for it, and what it answers. */
import type { EventId } from '../../model/index.ts';
import type { VerifiedEvent } from '../../nostr/index.ts';
import type { Claim, LocalWrite } from './rows.ts';
import type { Evidence, Verdict } from './verdict.ts';

/** What an action comes to before it has any effect: an event to publish, or its end. */
export type Plan =
  | ({ readonly type: 'publish' } & Evidence & Local)
  | ({ readonly type: 'end'; readonly verdict: Verdict } & Local);

/** What an action does to the host's own tables, and so at most once, like the record it is committed with. */
interface Local {
  /** Committed together with the evidence of a publication, or with the result that is the end. */
  readonly writes?: readonly LocalWrite[];
  /** Called once when nothing more will come of the plan, whatever came of it. */
  readonly release?: () => void;
}

/** What the end of a publication means for the host's own tables, also when another run signed it. */
export interface Aftermath {
  /** Committed together with the result. */
  writes(evidence: Evidence, verdict: Verdict): readonly LocalWrite[];
  /** Told after any commit that carried local writes, and where it is not known whether it did. */
  written(): void;
}

/** One logical operation. With `evidence` it is planned already: claim and evidence are then one commit. */
export interface Operation extends Claim {
  /** Runs at most once, after the claim is durable. Reads the outside, changes nothing there. */
  readonly plan: () => Promise<Plan>;
  /** Asked at the effect's edge: why it may not happen any more, or undefined. */
  readonly withdrawn: () => Verdict | undefined;
}

/** What the relay said to one send. A `rejected` must be about the only send, or be the relay's last word on all. */
export type SendOutcome =
  | { readonly status: 'accepted' }
  | { readonly status: 'rejected'; readonly reason: string }
  | { readonly status: 'unknown'; readonly reason: string };

/** How a principal's events reach the relay, and are looked for there. Bounded in time, never rejects. */
export interface Wire {
  publish(event: VerifiedEvent): Promise<SendOutcome>;
  /** Whether the event, or what it was to bring about, is there. */
  find(event: VerifiedEvent): Promise<'found' | 'absent' | 'unreadable'>;
}

/** `eventId` is the event of this operation wherever one was signed. */
export interface Settled {
  readonly verdict: Verdict;
  readonly replayed: boolean;
  readonly eventId?: EventId;
}
