/** An event before it has an author and a moment: what every action, frame and message of ours begins as. */
import type { Seconds } from '../model/index.ts';
import type { EventTemplate } from '../nostr/index.ts';

/** What is to be said; the author is added when it is signed, and the moment, which is `notBefore` or later. */
export interface EventDraft extends Omit<EventTemplate, 'created_at'> {
  /** For what replaces an earlier event: its stamp must rise above that one's. */
  readonly notBefore?: Seconds;
}
