/**
 * The earlier messages of a thread or a direct-message channel, for the envelope: of those that the session has not read
 * the last twelve, oldest first. What is older than all that it has read of the conversation is not shown later, and is
 * said to be there. When the relay does not answer in time there is no history, and the envelope says so.
 */
import type { AgentLink } from '../broker/index.ts';
import type { History } from '../../compiler/index.ts';
import type { ChannelId, EventId } from '../model/index.ts';
import { destinationOf, oldestFirst } from '../nostr/index.ts';
import type { Filter, VerifiedEvent } from '../nostr/index.ts';
import { isCard, isMarked } from './gate.ts';

/** Messages shown (Buzz's own default). */
export const HISTORY_MESSAGES = 12;
/** The fetch may take this long; a turn is never held up longer by it. */
const HISTORY_TIMEOUT_MS = 2_000;
/** Messages asked for: enough to know the length of an ordinary thread, bounded for a long one. */
const HISTORY_FETCH = 200;

export interface HistoryPlace {
  readonly channelId: ChannelId;
  readonly scope: 'thread' | 'dm';
  /** The root of the thread; absent for a direct-message channel. */
  readonly root?: EventId;
  /**
   * Messages of this turn and of turns to come: what is still to be answered is not history. Asked when the relay has
   * answered, which may tell of messages that came meanwhile.
   */
  readonly without: () => ReadonlySet<EventId>;
  /** What the session has read. */
  readonly delivered: { readonly has: (id: EventId) => boolean };
}

/** `delivered`: the session has read some of the conversation, and nothing in it is new. */
export type FoundHistory = { readonly is: 'new'; readonly history: History } | { readonly is: 'delivered' | 'unknown' };

/**
 * Unknown when the relay did not answer in full. `total` counts what the session has not read of what the relay told, at
 * most `HISTORY_FETCH` of a longer conversation; `truncated` says that some of it is not shown.
 */
export async function fetchHistory(link: AgentLink, place: HistoryPlace): Promise<FoundHistory> {
  const { events, complete } = await link.fetch(filtersOf(place), { timeoutMs: HISTORY_TIMEOUT_MS });
  if (!complete) return { is: 'unknown' };
  const without = place.without();
  const known = new Map(events.filter((event) => belongs(event, place, without)).map((event) => [event.id, event]));
  const ordered = [...known.values()].sort(oldestFirst);
  const isNew = ({ id }: VerifiedEvent): boolean => !place.delivered.has(id);
  const begun = ordered.findIndex((event) => !isNew(event));
  const since = ordered.slice(Math.max(0, begun)).filter(isNew);
  if (begun !== -1 && since.length === 0) return { is: 'delivered' };
  const shown = since.slice(-HISTORY_MESSAGES);
  const total = ordered.filter(isNew).length;
  return {
    is: 'new',
    history: {
      scope: place.scope,
      messages: shown.map(({ id, pubkey, created_at: timestamp, content }) => ({ eventId: id, pubkey, timestamp, content })),
      total,
      truncated: total > shown.length,
    },
  };
}

function filtersOf({ channelId, root }: HistoryPlace): readonly Filter[] {
  const inChannel = new Map<string, readonly string[]>([['h', [channelId]]]);
  if (root === undefined) return [{ kinds: [9], tags: inChannel, limit: HISTORY_FETCH }];
  return [
    { ids: [root], kinds: [9], tags: inChannel, limit: 1 },
    { kinds: [9], tags: new Map([...inChannel, ['e', [root]]]), limit: HISTORY_FETCH },
  ];
}

/** Notices and permission cards are no conversation. An `e` tag alone does not make a message part of a thread: its own NIP-10 root does. */
function belongs(event: VerifiedEvent, place: HistoryPlace, without: ReadonlySet<EventId>): boolean {
  if (without.has(event.id) || isMarked(event) || isCard(event)) return false;
  return place.root === undefined || destinationOf(event) === place.root;
}
