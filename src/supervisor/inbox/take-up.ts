/** The start of an inbox: what the last run left is read, settled against the journal, and handed back as waiting. */
import type { AgentLink } from '../../broker/index.ts';
import type { ChannelId, Clock, EventId } from '../../model/index.ts';
import type { Store } from '../../store/index.ts';
import { decidedPublication } from '../publication.ts';
import type { Entry } from './entry.ts';
import { recover } from './recover.ts';
import { loadInbox, saveStatement } from './rows.ts';
import type { Stranded } from './rows.ts';

export interface TakeUp {
  readonly store: Store;
  readonly link: AgentLink;
  readonly clock: Clock;
  readonly laneOf: (channelId: ChannelId, destination: EventId) => string;
  readonly signal: AbortSignal;
}

/**
 * Waits for the relay where a turn's publication is undecided. Undefined when `signal` aborted meanwhile: then nothing
 * has changed, and the next start finds it as it was.
 */
export async function takeUpInbox({ store, link, clock, laneOf, signal }: TakeUp): Promise<readonly Entry[] | undefined> {
  const left = await loadInbox(store, link.pubkey, laneOf);
  const answered = await answeredTurns(left.stranded, { link, clock, signal });
  if (answered === undefined) return undefined;
  const { entries, saves } = recover(left.stranded, answered);
  if (saves.length > 0) await store.write(...saves.map((save) => saveStatement(link.pubkey, save)));
  return [...entries, ...left.queued].sort((a, b) => a.receivedAtMs - b.receivedAtMs);
}

async function answeredTurns(
  stranded: readonly Stranded[], { link, clock, signal }: Pick<TakeUp, 'link' | 'clock' | 'signal'>,
): Promise<ReadonlySet<string> | undefined> {
  const answered = new Set<string>();
  for (const turnId of new Set(stranded.map((one) => one.turnId))) {
    const published = await decidedPublication(link, turnId, clock, signal);
    if (published === undefined) return undefined;
    if (published.length > 0) answered.add(turnId);
  }
  return answered;
}
