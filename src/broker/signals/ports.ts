/** The live signals of an agent, as those who give them say them. */
import type { ChannelId, EventId } from '../../model/index.ts';

/** NIP-BA "Live signals". `offline` clears what was told. */
export type PresenceStatus = 'online' | 'away' | 'offline';

/** Where an agent is writing: in a channel, or in a thread of it. */
export interface TypingPlace {
  readonly channelId: ChannelId;
  readonly thread?: { readonly root: EventId; readonly parent: EventId };
}

/** Presence and typing of this run. */
export interface SignalReport {
  /** As it was last to be told; absent: never. */
  readonly presence?: PresenceStatus;
  /** Handed to the relay, which said yes or nothing. */
  readonly sent: number;
  /** Gave way: the relay was away, its quota was used up, or it said no. */
  readonly dropped: number;
}
