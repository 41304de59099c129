/**
 * The first step of every compilation: each string of the turn made well-formed, once, so that no later step has to
 * think of lone surrogates. "Text rules", rules version 1.
 * in: a turn. out: a copy of it. Ids, keys and the closed words are ASCII by their form and stay as they are.
 */
import { wellFormed } from './text.ts';
import type { Channel, History, Profile, Profiles, Standing, TriggeredEvent, TurnInput } from './turn.ts';

/** `input` with every lone surrogate replaced by U+FFFD. */
export function wellFormedTurn(input: TurnInput): TurnInput {
  const { channel, interrupted, history, profiles, standing } = input;
  return {
    ...input,
    events: input.events.map(triggered),
    ...(channel && { channel: channelOf(channel) }),
    ...(interrupted && { interrupted: { mode: interrupted.mode, events: interrupted.events.map(triggered) } }),
    ...(history && { history: historyOf(history) }),
    ...(profiles && { profiles: profilesOf(profiles) }),
    ...(standing && { standing: wellFormedStanding(standing) }),
  };
}

function triggered({ event, rule }: TriggeredEvent): TriggeredEvent {
  const tags = event.tags.map((tag) => tag.map(wellFormed));
  return { event: { ...event, tags, content: wellFormed(event.content) }, rule: wellFormed(rule) };
}

function channelOf({ name, type, description }: Channel): Channel {
  return {
    name: wellFormed(name),
    type,
    ...(description !== undefined && { description: wellFormed(description) }),
  };
}

function historyOf(history: History): History {
  const messages = history.messages.map((message) => ({ ...message, content: wellFormed(message.content) }));
  return { ...history, messages };
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

/** `standing` with every lone surrogate replaced by U+FFFD. */
export function wellFormedStanding(standing: Standing): Standing {
  return Object.fromEntries(
    Object.entries(standing).map(([section, text]: [string, string]) => [section, wellFormed(text)]),
  );
}
