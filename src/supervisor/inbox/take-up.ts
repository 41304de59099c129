/** The start of an inbox: what the last run left, and which of the turns that were in flight had been answered. */
import type { AgentLink } from '../../broker/index.ts';
import type { Clock, EventId } from '../../model/index.ts';
import type { Store } from '../../store/index.ts';
import { decidedEnd } from '../publication.ts';
import type { InboxInput } from './machine.ts';
import { loadInbox } from './rows.ts';

export interface TakeUp {
  readonly store: Store;
  readonly link: Pick<AgentLink, 'pubkey' | 'publishedIn'>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Waits for the relay where a turn's publication is undecided. Undefined when `signal` aborted meanwhile: then nothing
 * has changed, and the next start finds it as it was.
 */
export async function takeUpInbox(
  { store, link, clock, signal }: TakeUp,
): Promise<Extract<InboxInput, { type: 'restored' }> | undefined> {
  const { queued, stranded, above } = await loadInbox(store, link.pubkey);
  const answered = new Set<string>();
  const unanswered = new Set<EventId>();
  for (const { turnId, channelId, entries } of stranded) {
    const end = await decidedEnd(link, { turnId, channelId }, clock, signal);
    if (end === undefined) return undefined;
    // A notice that nothing will come, and an answer behind it, would be two words on one message.
    if (end.events.length > 0 || end.noticed === true) answered.add(turnId);
    for (const { eventId } of entries) if (end.events.length <= (above.get(eventId) ?? -1)) unanswered.add(eventId);
  }
  return { type: 'restored', queued, stranded, answered, unanswered };
}
