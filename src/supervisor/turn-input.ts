/**
 * A batch and what was found out about it, as turn input v1. Pure: the same batch and facts give the same input, and
 * so the same envelope, for ever.
 */
import type { History, Profile, StandingRole, TriggeredEvent, TurnInput } from '../../compiler/index.ts';
import type { Pubkey } from '../model/index.ts';
import { mentionsOf } from '../nostr/index.ts';
import type { ChannelFacts, ProfileFacts } from './directory.ts';
import { pubkeysIn } from './directory.ts';
import { MAX_BATCH } from './inbox/entry.ts';
import type { Batch, Entry } from './inbox/entry.ts';

export interface TurnFacts {
  readonly channel: ChannelFacts | undefined;
  readonly history: History | undefined;
  /** The session has read what went before, and nothing was lost on the way to this turn. */
  readonly historyDelivered: boolean;
  readonly profiles: ReadonlyMap<Pubkey, ProfileFacts>;
}

export interface StandingTexts {
  readonly base?: string;
  readonly system?: string;
  readonly teamInstructions?: string;
}

export function turnInput(batch: Batch, facts: TurnFacts, standing: StandingTexts, standingRole: StandingRole): TurnInput {
  const events = batch.entries.map(triggered);
  const { mode = 'steer' } = batch.merged ?? batch.carried ?? {};
  const cut = interruptedIn(batch);
  const profiles = profilesOf(facts.profiles);
  return {
    v: 1,
    channelId: batch.channelId,
    ...(facts.channel === undefined ? {} : { channel: facts.channel }),
    events,
    ...(cut.length > 0 ? { interrupted: { mode, events: cut.map(triggered) } } : {}),
    ...(facts.history === undefined ? {} : { history: facts.history }),
    ...(facts.historyDelivered ? { historyDelivered: true } : {}),
    ...(Object.keys(profiles).length > 0 ? { profiles } : {}),
    standing,
    standingRole,
  };
}

/**
 * The messages of `interrupted`, oldest turn first, at most `MAX_BATCH`. First of all there is room for what this turn answers
 * and shows nowhere else (`merged`), then for its own that were cut short, which are its instruction again, and for as much of
 * the newest of what is over (`carried`) as there is room left.
 */
function interruptedIn({ entries, merged, carried }: Batch): readonly Entry[] {
  const answered = merged?.entries ?? [];
  const own = newest(entries.filter((entry) => entry.interrupted), MAX_BATCH - answered.length);
  return [...newest(carried?.entries ?? [], MAX_BATCH - answered.length - own.length), ...answered, ...own];
}

function newest(entries: readonly Entry[], count: number): readonly Entry[] {
  return entries.slice(Math.max(0, entries.length - count));
}

/** Everyone the envelope names: authors, mentions, and the authors of history. */
export function peopleIn(entries: readonly Entry[], history: History | undefined): readonly Pubkey[] {
  return [...new Set([
    ...entries.map((entry) => entry.author),
    ...pubkeysIn(entries.flatMap((entry) => mentionsOf(entry.event.tags))),
    ...pubkeysIn((history?.messages ?? []).map((message) => message.pubkey)),
  ])];
}

function triggered(entry: Entry): TriggeredEvent {
  return { event: entry.event, rule: entry.rule };
}

/** Sorted by pubkey, strangers left out: what nobody told is not in the input. */
function profilesOf(profiles: ReadonlyMap<Pubkey, ProfileFacts>): Readonly<Record<string, Profile>> {
  const told = [...profiles].filter(([, facts]) => facts.isAgent || facts.displayName !== undefined || facts.nip05 !== undefined);
  told.sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(told.map(([pubkey, { displayName, nip05, isAgent }]) => [pubkey, {
    ...(displayName === undefined ? {} : { displayName }),
    ...(nip05 === undefined ? {} : { nip05 }),
    ...(isAgent ? { isAgent } : {}),
  }]));
}
