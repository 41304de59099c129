/** What the agent's live signals say of its work: presence from its process slots, the place of a turn for typing. Pure. */
import type { PresenceStatus, TypingPlace } from '../broker/index.ts';
import { threadOf } from '../nostr/index.ts';
import type { Batch } from './inbox/entry.ts';
import type { SlotPhase } from './slot.ts';

/**
 * `online` while some process works; `away` while there is none to be expected soon. Undefined in between, as at the start
 * and after a crash: then what was told stays.
 */
export function presenceOf(phases: readonly SlotPhase[]): Exclude<PresenceStatus, 'offline'> | undefined {
  if (phases.some((phase) => phase === 'idle' || phase === 'busy')) return 'online';
  return phases.every((phase) => phase === 'broken' || phase === 'asleep') ? 'away' : undefined;
}

/** Where the message stands that is answered: a top-level one is in the channel, where people see that it is. */
export function typingPlace({ channelId, entries }: Pick<Batch, 'channelId' | 'entries'>): TypingPlace {
  const last = entries.at(-1) ?? entries[0];
  const place = threadOf(last.event.tags);
  // The answer is one to the last message, which is itself in the thread.
  return place.at === 'top' ? { channelId } : { channelId, thread: { root: place.root, parent: last.eventId } };
}
