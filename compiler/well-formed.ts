/**
 * The first step of every compilation: each string of the turn made well-formed, once, so that no later step has to
 * think of lone surrogates. "Text rules", rules version 1.
 * in: a turn. out: a copy of it, member by member: what is not in the format is not read. The closed words, and the
 * names of profiles, which are only looked up, stay as they are.
 */
import { wellFormed } from './text.ts';
import type {
  Channel, History, HistoryMessage, Profile, Profiles, Standing, TriggeredEvent, TurnInput,
} from './turn.ts';

/** `input` with every lone surrogate replaced by U+FFFD. */
export function wellFormedTurn(input: TurnInput): TurnInput {
  const { v, channelId, channel, events, interrupted, history, historyDelivered, profiles, standing } = input;
  return {
    v,
    channelId: wellFormed(channelId),
    ...(channel && { channel: channelOf(channel) }),
    events: events.map(triggeredOf),
    ...(interrupted && { interrupted: { mode: interrupted.mode, events: interrupted.events.map(triggeredOf) } }),
    ...(history && { history: historyOf(history) }),
    ...(historyDelivered !== undefined && { historyDelivered }),
    ...(profiles && { profiles: profilesOf(profiles) }),
    ...(standing && { standing: wellFormedStanding(standing) }),
    standingRole: input.standingRole,
  };
}

function triggeredOf({ event, rule }: TriggeredEvent): TriggeredEvent {
  const { id, pubkey, created_at, kind, tags, content, sig } = event;
  return {
    event: {
      id: wellFormed(id),
      pubkey: wellFormed(pubkey),
      created_at,
      kind,
      tags: tags.map((tag) => tag.map(wellFormed)),
      content: wellFormed(content),
      sig,
    },
    rule: wellFormed(rule),
  };
}

function channelOf({ name, type, description }: Channel): Channel {
  return {
    name: wellFormed(name),
    type,
    ...(description !== undefined && { description: wellFormed(description) }),
  };
}

function historyOf({ scope, messages, total, truncated }: History): History {
  return { scope, messages: messages.map(messageOf), total, truncated };
}

function messageOf({ eventId, pubkey, timestamp, content }: HistoryMessage): HistoryMessage {
  return { eventId: wellFormed(eventId), pubkey: wellFormed(pubkey), timestamp, content: wellFormed(content) };
}

function profilesOf(profiles: Profiles): Profiles {
  // fromEntries makes own members whatever the key, `__proto__` too.
  return Object.fromEntries(Object.entries(profiles).map(([pubkey, profile]) => [pubkey, profileOf(profile)]));
}

function profileOf({ displayName, nip05, isAgent }: Profile): Profile {
  return {
    ...(displayName !== undefined && { displayName: wellFormed(displayName) }),
    ...(nip05 !== undefined && { nip05: wellFormed(nip05) }),
    ...(isAgent !== undefined && { isAgent }),
  };
}

// The names of the format: a loop over those of the object would read a member that the format does not have.
const SECTIONS = [
  'workspace', 'base', 'system', 'teamInstructions', 'coreMemory', 'huddleInstructions', 'channelCanvas',
] as const satisfies readonly (keyof Standing)[];

/** `standing` with every lone surrogate replaced by U+FFFD. */
export function wellFormedStanding(standing: Standing): Standing {
  const copy: { -readonly [K in keyof Standing]: Standing[K] } = {};
  for (const section of SECTIONS) {
    const text = standing[section];
    if (text !== undefined) copy[section] = wellFormed(text);
  }
  return copy;
}
