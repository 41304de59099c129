/**
 * What is between an agent and its owner, as the rest of the house gives and takes it: telemetry and control frames and
 * permission cards (NIP-AO), memory (NIP-AE), what turns have used (NIP-AM), and the owner's key as far as a start needs it.
 */
import type { CardFacts, CardResolution } from '../cards/index.ts';
import type { ChannelId, EventId, Milliseconds, Pubkey, Seconds } from '../model/index.ts';
import type { EventTemplate, VerifiedEvent } from '../nostr/index.ts';

/** NIP-AO "Authorization Envelope". `expiresAt` is Buzz's own. */
export interface FrameAuthorization {
  readonly requestNonce: string;
  readonly actionable: boolean;
  readonly reason?: string;
  readonly expiresAt?: Seconds;
}

/** One frame for the owner (NIP-AO telemetry). `payload` is the text of a JSON object and is embedded to the byte. */
export interface ObserverFrame {
  /** `acp_read`, `turn_started`, … */
  readonly kind: string;
  readonly payload: string;
  readonly channelId?: ChannelId;
  /** The ACP session; `seq` counts for each. */
  readonly sessionId?: string;
  readonly turnId?: string;
  /** The process slot. */
  readonly agentIndex?: number;
  readonly authorization?: FrameAuthorization;
  /** Under pressure `stream` goes first; `permission` and `lifecycle` never give way to it. */
  readonly rank: 'permission' | 'lifecycle' | 'stream';
}

/** Frames of this run, for `skep status`. All but `sent` and `waiting` are gaps in `seq`. */
export interface TelemetryStatus {
  /** Handed to the relay, which said yes or nothing. */
  readonly sent: number;
  readonly waiting: number;
  /** Gave way under pressure, or came too late. */
  readonly dropped: number;
  readonly tooLong: number;
  /** The relay said no. */
  readonly refused: number;
}

/**
 * One control frame of NIP-AO: signed by the owner, for this agent, fresh (five minutes), opened, a JSON object with a
 * string `type`. What its other members are is not looked at.
 */
export interface ControlFrame {
  readonly eventId: EventId;
  readonly sender: Pubkey;
  readonly agent: Pubkey;
  readonly createdAt: Seconds;
  readonly receivedAt: Seconds;
  readonly type: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Quick; what it begins it waits for itself. */
export type ControlConsumer = (frame: ControlFrame) => void;

/** Frames handed over, and those that were dropped: not the owner's, not for this agent, stale, seen before, garbage. */
export interface ControlCounts {
  readonly taken: number;
  readonly ignored: number;
}

/** A permission card for a channel (NIP-AO "Permission Sentinel Cards"). */
export interface CardOrder {
  readonly card: CardFacts;
  readonly channelId: ChannelId;
  /** The event that it answers in the thread. */
  readonly trigger?: EventId;
}

/** `refused`: nobody can see it, because the relay said no or it was never sent. `unanswered`: it may be visible. */
export type CardFate = 'shown' | 'refused' | 'unanswered';

export interface CardDesk {
  /** Signs the card once, stores it, then sends it. Resolves after `timeoutMs` and the commit of the store at the latest. */
  post(order: CardOrder, timeoutMs: number): Promise<CardFate>;
  /** Says in one edit how the card with this nonce ended, and sees to it that the relay has it. For others, nothing. */
  resolve(nonce: string, resolution: CardResolution): void;
}

/** An agent's memory between it and its owner (NIP-AE), for what skep itself remembers there. Bounded in time. */
export interface MemoryDesk {
  /** `value` is undefined where there is none. Not ok: the relay did not answer, and nothing is known. */
  read(slug: string): Promise<{ readonly ok: true; readonly value: string | undefined } | { readonly ok: false }>;
  /** `stored`: the relay has it, perhaps since an earlier write. */
  write(slug: string, value: string): Promise<'stored' | 'unknown'>;
}

/** The owner's key as far as a start needs it. */
export interface OwnerDoor {
  readonly pubkey: Pubkey;
  /** The answer to a relay's challenge (kind 22242); throws for anything else. */
  sign(template: EventTemplate): Promise<VerifiedEvent>;
  /** What the owner sealed to themselves; undefined when it is not that. Throws for another `peer`. */
  open(peer: Pubkey, payload: string): Promise<string | undefined>;
}

/** `plaintext` is the payload of a kind 44200 event; only the owner reads it. `at` is its timestamp. */
export interface SealedMetric {
  readonly plaintext: string;
  readonly at: Milliseconds;
}
