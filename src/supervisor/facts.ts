/** What the envelope of a turn says beside its events: channel, conversation, people; each in bounded time. */
import type { EventId } from '../model/index.ts';
import { destinationOf, threadOf } from '../nostr/index.ts';
import type { AgentLink } from '../broker/index.ts';
import type { Directory } from './directory.ts';
import { fetchHistory } from './history.ts';
import type { HistoryPlace } from './history.ts';
import { evidenceOf } from './inbox/entry.ts';
import type { Batch } from './inbox/entry.ts';
import type { LaneSession } from './sessions/lane-session.ts';
import { peopleIn } from './turn-input.ts';
import type { TurnFacts } from './turn-input.ts';

export interface FactSources {
  readonly link: AgentLink;
  readonly directory: Directory;
  readonly batch: Batch;
  readonly session: LaneSession;
  /** Events that wait for a turn of their own, or are in one, by now. */
  readonly held: () => ReadonlySet<EventId>;
}

export async function gatherFacts({ link, directory, batch, session, held }: FactSources): Promise<TurnFacts> {
  const { facts: channel } = await directory.channel(batch.channelId);
  const place = historyPlace(batch, channel?.type === 'dm', held, session);
  const found = place === undefined ? undefined : await fetchHistory(link, place);
  const history = found?.is === 'new' ? found.history : undefined;
  const profiles = await directory.profiles([...peopleIn([...evidenceOf(batch), ...batch.entries], history), link.pubkey]);
  // A conversation that was asked for and did not come is not "delivered", whatever the session saw before.
  const historyDelivered = found === undefined ? session.delivered.size > 0 : found.is === 'delivered';
  return { channel, history, historyDelivered, profiles: profiles.facts };
}

/** A top-level message in a channel has no conversation behind it; a thread and a direct message have. */
function historyPlace(batch: Batch, isDm: boolean, without: HistoryPlace['without'], { delivered }: LaneSession): HistoryPlace | undefined {
  const last = batch.entries.at(-1) ?? batch.entries[0];
  if (isDm) return { channelId: batch.channelId, scope: 'dm', without, delivered };
  if (threadOf(last.event.tags).at === 'top') return undefined;
  return { channelId: batch.channelId, scope: 'thread', root: destinationOf(last.event), without, delivered };
}
