/**
 * From a feed's event to an inbox entry: the gate's questions answered with facts from the directory and the store.
 * Cheap refusals come first, so that most of what a channel carries costs nothing. A refusal that rests on a question the
 * relay did not answer is asked again: one slow look-up loses no message.
 */
import type { AgentLink } from '../broker/index.ts';
import { milliseconds } from '../model/index.ts';
import type { ChannelId, Clock, EventId, Pubkey } from '../model/index.ts';
import { destinationOf } from '../nostr/index.ts';
import type { VerifiedEvent } from '../nostr/index.ts';
import type { Store } from '../store/index.ts';
import type { Directory } from './directory.ts';
import { admit, sift } from './gate.ts';
import type { AdmitFacts, Admitted, GateRefusal, GateSettings, HopCounts, OwnerCommand } from './gate.ts';
import type { Entry } from './inbox/entry.ts';
import type { InboxInput } from './inbox/machine.ts';
import { midTurnOf } from './inbox/mid-turn.ts';
import type { MidTurnPolicy } from './inbox/mid-turn.ts';
import { hopCounts, knows } from './inbox/rows.ts';

/** `facts` are what the verdict rests on; a refusal without them needed none. */
export type Considered =
  | { readonly is: 'new'; readonly entry: Entry; readonly facts: AdmitFacts }
  /** For skep itself; its row is all that is kept of it. */
  | { readonly is: 'command'; readonly command: OwnerCommand; readonly entry: Entry }
  | { readonly is: 'known' }
  | { readonly is: 'refused'; readonly reason: GateRefusal; readonly unanswered: boolean; readonly facts?: AdmitFacts };

export interface IntakeOptions {
  readonly gate: GateSettings;
  readonly store: Store;
  readonly link: Pick<AgentLink, 'pubkey'>;
  readonly clock: Clock;
  readonly session: 'channel' | 'thread';
  /** As counted before, for the replay of a stream that began in mid-conversation; absent: counted on the rows. */
  readonly hops?: HopCounts;
}

/** Who tells of people and channels. */
export type IntakeFacts = Pick<Directory, 'profiles' | 'channel'>;

/** Times the relay is asked about an author and a channel; each waits about two seconds for the answer. */
const ASK_TIMES = 5;

export async function consider(
  event: VerifiedEvent, channelId: ChannelId, directory: IntakeFacts, options: IntakeOptions,
): Promise<Considered> {
  const { gate, store, link, clock } = options;
  const sifted = sift(event, gate);
  if (!sifted.pass && sifted.reason !== 'command') return { is: 'refused', reason: sifted.reason, unanswered: false };
  if (await knows(store, link.pubkey, event.id)) return { is: 'known' };
  const destination = destinationOf(event);
  const plain = {
    eventId: event.id, channelId, destination, author: event.pubkey, receivedAtMs: clock.now(), attempts: 0, interrupted: false,
    notBeforeMs: milliseconds(0), event,
  };
  if (!sifted.pass) return { is: 'command', command: sifted.command, entry: { ...plain, lane: channelId, rule: sifted.command, hops: 0 } };
  const { admitted, facts, answered } = await ask(event, { channelId, destination }, directory, options);
  if (!admitted.pass) return { is: 'refused', reason: admitted.reason, unanswered: !answered, facts };
  const policy = facts.channelType === 'dm' ? 'channel' : options.session;
  return {
    is: 'new',
    facts,
    entry: { ...plain, lane: laneOf(policy, channelId, destination), rule: sifted.rule, hops: admitted.hops, receivedAtMs: clock.now() },
  };
}

interface Asked {
  readonly admitted: Admitted;
  readonly facts: AdmitFacts;
  /** False: the relay has not said all that the verdict rests on. */
  readonly answered: boolean;
}

async function ask(
  event: VerifiedEvent, place: { readonly channelId: ChannelId; readonly destination: EventId }, directory: IntakeFacts,
  { gate, store, link, hops: counted }: IntakeOptions,
): Promise<Asked> {
  const hops = counted ?? await hopCounts(store, link.pubkey, place.channelId, place.destination);
  for (let times = 1; ; times += 1) {
    const [profiles, channel] = await Promise.all([directory.profiles([event.pubkey]), directory.channel(place.channelId)]);
    const author = profiles.facts.get(event.pubkey) ?? { isAgent: false };
    const facts = { author, channelType: channel.facts?.type, hops };
    const admitted = admit(event, gate, facts);
    const answered = profiles.answered && channel.answered;
    if (admitted.pass || answered || times >= ASK_TIMES) return { admitted, facts, answered };
  }
}

/** A message that was let in, as the inbox takes it. */
export function acceptedInput(
  { entry, facts }: Extract<Considered, { readonly is: 'new' }>, policy: MidTurnPolicy, owner: Pubkey,
): Extract<InboxInput, { readonly type: 'accepted' }> {
  const midTurn = midTurnOf(policy, { isOwners: entry.author === owner, isDirect: facts.channelType === 'dm' });
  return { type: 'accepted', entry, ...(midTurn && { midTurn }) };
}

/** A lane is the channel, or one thread of it under the thread policy. Direct messages stay whole (NIP-AP). */
export function laneOf(policy: 'channel' | 'thread', channelId: ChannelId, destination: EventId): string {
  return policy === 'thread' ? `${channelId}/${destination}` : channelId;
}
