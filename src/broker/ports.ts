/**
 * What the broker is to the rest of the house. The supervisor holds an `AgentLink` for each agent: a feed in, reads,
 * the few messages skep itself writes, and credentials for agent processes. No key, socket or signature crosses here.
 */
import type { CardFacts, CardResolution } from '../cards/index.ts';
import type { ChannelId, EventId, Milliseconds, Pubkey, Refusal, Seconds } from '../model/index.ts';
import type { EventTemplate, Filter, Tag, VerifiedEvent } from '../nostr/index.ts';
import type { CanaryReport } from './canary/report.ts';
import type { PresenceStatus, SignalReport, TypingPlace } from './signals/ports.ts';

export type { CanaryReport, PresenceStatus, SignalReport, TypingPlace };

/** Who an agent is to the broker. `secretKey` is 32 bytes and is held by the broker alone. */
export interface AgentIdentity {
  readonly name: string;
  readonly pubkey: Pubkey;
  readonly secretKey: Uint8Array;
  readonly owner: Pubkey;
  /** The NIP-OA `auth` tag, sent on the AUTH event where there is one. */
  readonly attestation?: Tag;
  /** The channels to follow; absent means every channel the relay says the agent is a member of. */
  readonly channels?: readonly ChannelId[];
  /** With `mentions` only events that name the agent are asked for; with `all` every message of the channel. */
  readonly subscribe: 'mentions' | 'all';
  /** How often each subscription is proven to deliver; absent: never. */
  readonly canaryMs?: number;
  /** What the agents that it makes may run on, its own first. Absent: it may make none. */
  readonly runtimes?: readonly string[];
}

/** An agent that another agent made (`agents.create`), as the supervisor runs it. */
export interface ManagedAgent {
  readonly pubkey: Pubkey;
  /** The agent that made it. */
  readonly owner: Pubkey;
  /** Its owner, that one's owner, and so on; the last is the person who owns `root`. */
  readonly owners: readonly Pubkey[];
  /** The configured agent at the root of the chain. */
  readonly root: Pubkey;
  readonly displayName: string;
  readonly systemPrompt: string;
  readonly respondTo: 'owner-only' | 'anyone';
  /** One of the runtimes of `root`; absent: the first. */
  readonly runtime?: string;
}

export type ManagedChange =
  /** It is to run; its link is there. */
  | { readonly type: 'live'; readonly agent: ManagedAgent }
  | { readonly type: 'changed'; readonly agent: ManagedAgent }
  /**
   * It is to run no longer, or not as it does: then `live` follows. Its link goes when the consumer's promise has
   * settled; its credentials have ended before, unless it restarts.
   */
  | { readonly type: 'gone'; readonly pubkey: Pubkey; readonly restarts: boolean };

/** One at a time: the next change waits for the promise. */
export type ManagedConsumer = (change: ManagedChange) => Promise<void>;

/**
 * What comes in, in order, one at a time: the next item waits until the consumer's promise has settled. `left` comes
 * also for a channel of an earlier run that was left while we were down; until it is taken, each start tells it again.
 */
export type FeedItem =
  | { readonly type: 'event'; readonly channelId: ChannelId; readonly event: VerifiedEvent }
  | { readonly type: 'joined'; readonly channelId: ChannelId }
  | { readonly type: 'left'; readonly channelId: ChannelId };

export type FeedConsumer = (item: FeedItem) => Promise<void>;

/** `complete` is false when the time ran out or the relay broke off: what came until then is in `events`. */
export interface FetchResult {
  readonly events: readonly VerifiedEvent[];
  readonly complete: boolean;
}

/**
 * `unknown`: no verdict in time, also when the relay said "not now" (`rate-limited:`); the event may be on the relay,
 * and the same event may be sent again.
 */
export type PublishOutcome =
  | { readonly status: 'accepted'; readonly eventId: EventId }
  | { readonly status: 'rejected'; readonly eventId: EventId; readonly reason: string }
  | { readonly status: 'unknown'; readonly eventId: EventId; readonly reason: string };

export type UpstreamPhase = 'idle' | 'connecting' | 'authenticating' | 'ready' | 'waiting' | 'closed';

/** One agent's connection, as `skep status` shows it. `lastError` is the relay's or the system's word, redacted. */
export interface UpstreamStatus {
  readonly agent: Pubkey;
  readonly url: string;
  readonly phase: UpstreamPhase;
  readonly attempts: number;
  readonly channels: readonly ChannelId[];
  readonly lastError?: string;
}

/** A credential of one agent process (NIP-BA "Session and transport"). `token` goes to that process and nowhere else. */
export interface SessionCredential {
  readonly sessionId: string;
  readonly endpoint: string;
  readonly token: string;
}

/** The turn an agent process is in, told to the broker so that a journal record names the turn it belongs to. */
export interface TurnBinding {
  readonly turnId: string;
  readonly channelId: ChannelId;
}

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

/** What skep itself writes as the agent: the text of an answer the agent streamed, or a notice about a failed turn. */
export interface OwnMessage {
  /** Stable over retries and restarts: the same id is one operation, at most once. */
  readonly operationId: string;
  readonly channelId: ChannelId;
  readonly content: string;
  /** The thread, known from the verified events of the turn; to answer a root is both. Absent: a top-level message. */
  readonly replyTo?: { readonly root: EventId; readonly parent: EventId };
  /** A notice carries no `p` tag and the marker `["skep","notice"]`: it can never wake an agent. */
  readonly kind: 'answer' | 'notice';
  readonly turnId: string;
}

/** What became of an owner's command in chat, for whoever reads the channel. `content` is JSON. */
export interface CommandReport {
  readonly commandId: EventId;
  readonly channelId: ChannelId;
  readonly content: string;
}

/**
 * `events` are the messages the relay has accepted, oldest first. `undecided`: a signed message of the turn may be on the
 * relay or may still get there; ask again before the turn is given to anyone.
 */
export interface TurnPublications {
  readonly events: readonly EventId[];
  readonly undecided: boolean;
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

export interface AgentLink {
  readonly pubkey: Pubkey;
  /** Starts the feed. Exactly one consumer; a rejected promise is a bug of the consumer and stops this agent's feed. */
  follow(consumer: FeedConsumer): void;
  /** Stored events matching any of the filters, newest first, verified. Never rejects; see `complete`. */
  fetch(filters: readonly Filter[], options: { readonly timeoutMs: number }): Promise<FetchResult>;
  /** Publishes through the journal. Resolves in bounded time. */
  say(message: OwnMessage): Promise<PublishOutcome>;
  /** A system message in the channel that wakes nobody: once for each command. Resolves in bounded time. */
  report(report: CommandReport): Promise<PublishOutcome>;
  /** Issues a credential for one agent process. */
  openSession(): SessionCredential;
  /** Binds the turn in flight of a session, or none between turns. */
  bindTurn(sessionId: string, turn: TurnBinding | undefined): void;
  /** Revokes it: effective on the next byte, also for stored results. */
  closeSession(sessionId: string): void;
  /**
   * What the agent has published in that turn, in the turn's channel. Resolves in bounded time, with `undecided` where
   * that was too short.
   */
  publishedIn(turn: TurnBinding): Promise<TurnPublications>;
  /**
   * A frame for the owner, paced and best effort. Never throws, never waits. Its `seq` is used up even where it is
   * dropped or too long; within a session frames arrive in the order in which they were told.
   */
  tell(frame: ObserverFrame): void;
  /** The frame's plaintext in bytes, at its longest. Pure. What has more than 65,408 is not sent. */
  frameBytes(frame: ObserverFrame): number;
  telemetry(): TelemetryStatus;
  /** From here on frames go one a second, several of one channel in each (Buzz's kind `batch`). */
  packTelemetry(): void;
  /** Starts to listen to the owner. Exactly one consumer; a frame is handed over once, also over reconnects and restarts. */
  controls(consumer: ControlConsumer): void;
  controlCounts(): ControlCounts;
  /** Tells the owner what a turn has used (NIP-AM). Returns at once, never throws; nobody learns what came of it. */
  metric(metric: SealedMetric): void;
  readonly cards: CardDesk;
  readonly memory: MemoryDesk;
  /** True from now on, and told every minute until another one is. Best effort: never throws, never waits. */
  presence(status: PresenceStatus): void;
  /** Tells that the agent is writing there, until the function it returns is called. Best effort: never throws, never waits. */
  typing(place: TypingPlace): () => void;
  signals(): SignalReport;
  /** Undefined where there is no canary. */
  canary(): CanaryReport | undefined;
  status(): UpstreamStatus;
}

/** `plaintext` is the payload of a kind 44200 event; only the owner reads it. `at` is its timestamp. */
export interface SealedMetric {
  readonly plaintext: string;
  readonly at: Milliseconds;
}

/** What an operator orders for a program that skep does not run. Members that are absent leave all that the agent may. */
export interface CredentialOrder {
  /** Name or pubkey of an agent of this broker. */
  readonly agent: string;
  readonly actions?: readonly string[];
  readonly channels?: readonly string[];
  /** Absent: until it is revoked. */
  readonly lifetimeMs?: number;
  /** For people. */
  readonly label?: string;
}

/** `token` exists nowhere else. */
export interface IssuedCredential {
  readonly id: string;
  readonly token: string;
  readonly agent: string;
  readonly endpoint: string;
  /** False where the endpoint has another port after the next start. */
  readonly lasting: boolean;
  readonly expiresAtMs?: number;
}

/** A session as a list shows it: nothing of a token. Times are Unix milliseconds. */
export interface SessionEntry {
  readonly id: string;
  /** `process`: of an agent process that skep runs; it ends with it. */
  readonly sort: 'issued' | 'process';
  /** `unusable`: its agent is not configured any more, or has another owner or relay. */
  readonly state: 'live' | 'expired' | 'revoked' | 'unusable';
  /** Its name, or its pubkey where no such agent is here. */
  readonly agent: string;
  readonly pubkey: Pubkey;
  readonly label?: string;
  readonly actions?: readonly string[];
  readonly channels?: readonly ChannelId[];
  readonly createdAtMs: number;
  readonly expiresAtMs?: number;
  readonly revokedAtMs?: number;
  /** To the minute. */
  readonly usedAtMs?: number;
  readonly turn?: TurnBinding;
}

/** Where an operator gets and ends credentials. Every call may reject with the store's `Failure`. */
export interface CredentialDesk {
  issue(order: CredentialOrder): Promise<{ readonly ok: true; readonly issued: IssuedCredential } | Refusal>;
  /** Another token for the same credential; the old one ends at once. */
  rotate(id: string): Promise<{ readonly ok: true; readonly issued: IssuedCredential } | Refusal>;
  /** Effective on the next byte, also for requests under way and stored results. Twice is once. */
  revoke(id: string): Promise<{ readonly ok: true } | Refusal>;
  list(): readonly SessionEntry[];
}

export interface Broker {
  /** `http://127.0.0.1:<port>`, the NIP-BA endpoint without its path, for the agents that skep runs. */
  readonly endpoint: string;
  /** The same for programs that skep does not run: with TLS, or where a proxy stands in front, another. */
  readonly publicEndpoint: string;
  readonly credentials: CredentialDesk;
  link(agent: Pubkey): AgentLink;
  /** Present where the owner's key is in the ring. */
  readonly owner?: OwnerDoor;
  /**
   * A configured agent's connection, feed and link anew, after its consumer has stopped: its sessions end. `link` gives
   * the new one.
   */
  renew(agent: Pubkey): Promise<void>;
  /** Tells of the agents that agents have made: of those that are there, and of every change. One consumer. */
  managed(consumer: ManagedConsumer): void;
  /** Stops taking actions, lets those under way end within `graceMs`, closes sockets. Closing twice is closing once. */
  close(graceMs: number): Promise<void>;
}

/** Seconds a resumed subscription reaches back behind the newest event seen: authors' clocks differ. */
export const RESUME_OVERLAP_SEC = 900;

/** Where an agent began to follow a channel and how far it has read it. Seconds are the events' own stamps. */
export interface ResumePoint {
  readonly floorSec: Seconds;
  readonly seenSec: Seconds;
  /**
   * The stored events before the floor that the first catch-up found: history. Undefined until that catch-up is whole;
   * until then everything stored before the floor is.
   */
  readonly passedOver?: ReadonlySet<EventId>;
}
