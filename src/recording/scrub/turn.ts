/** A turn input by its stand-ins, member by member in the order it has; rules and the type of the channel stay. */
import type { Channel, History, OperatorTurnInput, Profile, Profiles, Standing, TriggeredEvent, TurnInput } from '../../../compiler/index.ts';
import type { Events } from './events.ts';

/** Tells `events` everything of `input` that is to be replaced. */
export function tellTurn(input: TurnInput, events: Events): void {
  const { book } = events;
  const { channel, history, profiles = {}, standing = {}, interrupted } = input;
  for (const { event } of [...input.events, ...(interrupted?.events ?? [])]) events.tell(event);
  for (const { pubkey, timestamp, content } of history?.messages ?? []) {
    book.introduce(pubkey);
    events.tellTime(timestamp);
    book.words.tell(content);
  }
  for (const [pubkey, { displayName = '', nip05 = '' }] of Object.entries(profiles)) {
    book.introduce(pubkey);
    book.words.tell(displayName);
    book.words.tell(nip05);
  }
  for (const text of Object.values<string>({ ...standing })) book.words.tell(text);
  book.words.tell(channel?.name ?? '');
  book.words.tell(channel?.description ?? '');
}

export function scrubTurn(input: TurnInput, events: Events): TurnInput {
  const { book } = events;
  const { channel, history, profiles, standing, interrupted } = input;
  // A member that is written again keeps its place.
  return {
    ...input,
    channelId: book.channel(input.channelId),
    events: input.events.map((one) => triggered(one, events)),
    ...(channel && { channel: scrubChannel(channel, events) }),
    ...(interrupted && { interrupted: { ...interrupted, events: interrupted.events.map((one) => triggered(one, events)) } }),
    ...(history && { history: scrubHistory(history, events) }),
    ...(profiles && { profiles: scrubProfiles(profiles, events) }),
    ...(standing && { standing: scrubStanding(standing, events) }),
  };
}

export function tellOperatorTurn({ prompt, standing = {} }: OperatorTurnInput, { book }: Events): void {
  for (const text of [prompt, ...Object.values<string>({ ...standing })]) book.words.tell(text);
}

export function scrubOperatorTurn(input: OperatorTurnInput, events: Events): OperatorTurnInput {
  const { prompt, standing } = input;
  return { ...input, prompt: events.book.text(prompt), ...(standing && { standing: scrubStanding(standing, events) }) };
}

function triggered(one: TriggeredEvent, events: Events): TriggeredEvent {
  return { ...one, event: events.scrubbed(one.event) };
}

function scrubChannel(channel: Channel, { book }: Events): Channel {
  const { name, description } = channel;
  return {
    ...channel, name: book.channelName(name), ...(description !== undefined && { description: book.text(description) }),
  };
}

function scrubHistory(history: History, events: Events): History {
  const messages = history.messages.map((message) => ({
    ...message,
    eventId: events.book.eventId(message.eventId),
    pubkey: events.book.pubkey(message.pubkey),
    timestamp: events.time(message.timestamp),
    content: events.book.text(message.content),
  }));
  return { ...history, messages };
}

function scrubProfiles(profiles: Profiles, { book }: Events): Profiles {
  return Object.fromEntries(Object.entries(profiles).map(([pubkey, profile]: [string, Profile]) => [book.pubkey(pubkey), {
    ...profile,
    ...(profile.displayName !== undefined && { displayName: book.personName(profile.displayName) }),
    ...(profile.nip05 !== undefined && { nip05: book.address(profile.nip05) }),
  }]));
}

function scrubStanding(standing: Standing, { book }: Events): Standing {
  return Object.fromEntries(Object.entries(standing).map(([section, text]: [string, string]) => [section, book.text(text)]));
}
