/**
 * Turn input, version 1: everything the compiler may know about a turn. Closed: nothing else can be in it, and no
 * member is ever null. Strings may hold anything; `parseTurnInput` says what the other members may be.
 * Never: checks a signature. A caller verifies each event before it compiles.
 */

/** A signed NIP-01 event, exactly its seven members. Hex is lowercase; `created_at` in seconds. */
export interface TurnEvent {
  readonly id: string;
  readonly pubkey: string;
  readonly created_at: number;
  readonly kind: number;
  readonly tags: readonly (readonly string[])[];
  readonly content: string;
  readonly sig: string;
}

/** An event and the label of what matched it, such as `@mention` or `all`. */
export interface TriggeredEvent {
  readonly event: TurnEvent;
  readonly rule: string;
}

/** Resolved channel metadata. `type` is `stream`, `forum`, `dm` or another word; only `dm` changes the rendering. */
export interface Channel {
  readonly name: string;
  readonly type: string;
  readonly description?: string;
}

/** The events (1..50) of the turn that was cut short, to be carried on (`steer`) or dropped (`interrupt`). */
export interface Interrupted {
  readonly mode: 'steer' | 'interrupt';
  readonly events: readonly TriggeredEvent[];
}

/** One earlier message. `timestamp` in seconds. */
export interface HistoryMessage {
  readonly eventId: string;
  readonly pubkey: string;
  readonly timestamp: number;
  readonly content: string;
}

/** Earlier messages, oldest first; `total` is how many there are, `truncated` whether some are missing here. */
export interface History {
  readonly scope: 'thread' | 'dm';
  readonly messages: readonly HistoryMessage[];
  readonly total: number;
  readonly truncated: boolean;
}

export interface Profile {
  readonly displayName?: string;
  readonly nip05?: string;
  readonly isAgent?: boolean;
}

/** By lowercase hex pubkey. */
export type Profiles = Readonly<Record<string, Profile>>;

export interface Standing {
  readonly workspace?: string;
  readonly base?: string;
  readonly system?: string;
  readonly teamInstructions?: string;
  readonly coreMemory?: string;
  readonly huddleInstructions?: string;
  readonly channelCanvas?: string;
}

/** `system`: the adapter takes a system role; `prompt`: it does not, and has read nothing yet; `sent`: it has. */
export type StandingRole = 'system' | 'prompt' | 'sent';

/** One turn as data. `events` (1..50) in prompt order, oldest first; the last decides scope and reply anchor. */
export interface TurnInput {
  readonly v: 1;
  readonly channelId: string;
  readonly channel?: Channel;
  readonly events: readonly TriggeredEvent[];
  readonly interrupted?: Interrupted;
  readonly history?: History;
  readonly historyDelivered?: boolean;
  readonly profiles?: Profiles;
  readonly standing?: Standing;
  readonly standingRole: StandingRole;
}
