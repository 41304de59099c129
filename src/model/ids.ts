/**
 * The ids that travel through every room, as distinct types. A constructor checks the form and nothing else
 * (whether a pubkey is a point on the curve is `src/nostr`'s question).
 */
declare const brand: unique symbol;
type Branded<T, Name extends string> = T & { readonly [brand]: Name };

/** 64 lowercase hex characters: the id of a Nostr event (NIP-01). */
export type EventId = Branded<string, 'EventId'>;
/** 64 lowercase hex characters: an x-only public key (NIP-01). */
export type Pubkey = Branded<string, 'Pubkey'>;
/** A lowercase hyphenated UUID: Buzz restricts NIP-29 group ids to this form. */
export type ChannelId = Branded<string, 'ChannelId'>;

const HEX64 = /^[0-9a-f]{64}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** `text` as an event id, or undefined when it is not 64 lowercase hex characters. */
export function asEventId(text: string): EventId | undefined {
  return HEX64.test(text) ? (text as EventId) : undefined;
}

/** `text` as a pubkey, or undefined when it is not 64 lowercase hex characters. */
export function asPubkey(text: string): Pubkey | undefined {
  return HEX64.test(text) ? (text as Pubkey) : undefined;
}

/** `text` as a channel id, or undefined when it is not a lowercase hyphenated UUID. */
export function asChannelId(text: string): ChannelId | undefined {
  return UUID.test(text) ? (text as ChannelId) : undefined;
}

/** A trusted 64-hex text as a pubkey. Throws (a bug) when it is not one. */
export function pubkey(text: string): Pubkey {
  return asPubkey(text) ?? broken('pubkey', '64 lowercase hex characters');
}

/** A trusted 64-hex text as an event id. Throws (a bug) when it is not one. */
export function eventId(text: string): EventId {
  return asEventId(text) ?? broken('event id', '64 lowercase hex characters');
}

/** A trusted UUID as a channel id. Throws (a bug) when it is not one. */
export function channelId(text: string): ChannelId {
  return asChannelId(text) ?? broken('channel id', 'a lowercase hyphenated UUID');
}

/** The first eight characters: enough for a person to tell ids apart in a log or a timeline. */
export function shortId(id: string): string {
  return id.slice(0, 8);
}

function broken(what: string, expected: string): never {
  throw new TypeError(`${what}: expected ${expected}`);
}
