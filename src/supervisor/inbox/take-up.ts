/** The start of an inbox: what the last run left is read, settled against the journal, and handed back as waiting. */
import type { AgentLink } from '../../broker/index.ts';
import type { ChannelId, EventId } from '../../model/index.ts';
import type { Store } from '../../store/index.ts';
import type { Entry } from './entry.ts';
import { recover } from './recover.ts';
import { loadInbox, saveStatement } from './rows.ts';
import type { Stranded } from './rows.ts';

/** Waits for the relay where a turn's publication is undecided: whether it was answered cannot be guessed. */
export async function takeUpInbox(
  store: Store, link: AgentLink, laneOf: (channelId: ChannelId, destination: EventId) => string,
): Promise<readonly Entry[]> {
  const left = await loadInbox(store, link.pubkey, laneOf);
  const { entries, saves } = recover(left.stranded, await answeredTurns(left.stranded, link));
  if (saves.length > 0) await store.write(...saves.map((save) => saveStatement(link.pubkey, save)));
  return [...entries, ...left.queued].sort((a, b) => a.receivedAtMs - b.receivedAtMs);
}

async function answeredTurns(stranded: readonly Stranded[], link: AgentLink): Promise<ReadonlySet<string>> {
  const answered = new Set<string>();
  for (const turnId of new Set(stranded.map((one) => one.turnId))) {
    const published = await link.publishedIn(turnId);
    if (published.length > 0) answered.add(turnId);
  }
  return answered;
}
