/**
 * What the broker is to the rest of the house. The supervisor holds an `AgentLink` for each agent: a feed in, reads,
 * the few messages skep itself writes, and credentials for agent processes. No key, socket or signature crosses here.
 */
import type { ChannelId, EventId, Pubkey, Seconds } from '../model/index.ts';
import type { Filter, Tag, VerifiedEvent } from '../nostr/index.ts';
import type { CanaryReport } from './canary/report.ts';
import type { CredentialDesk, SessionCredential, TurnBinding } from './credential-ports.ts';
import type {
  CardDesk, ControlConsumer, ControlCounts, MemoryDesk, ObserverFrame, OwnerDoor, SealedMetric, TelemetryStatus,
} from './owner-ports.ts';
import type { PresenceStatus, SignalReport, TypingPlace } from './signals/ports.ts';

export type { CanaryReport, PresenceStatus, SignalReport, TypingPlace };
export type { CredentialDesk, IssuedCredential, SessionEntry } from './credential-ports.ts';
export type { ObserverFrame, TelemetryStatus } from './owner-ports.ts';

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
  /** Why the relay would not answer, in its words (CLOSED); never of a complete answer. */
  readonly refusal?: string;
  /** Something came that `since` or `until` keeps out: the relay does not heed them, and what did not come may be there. */
  readonly unbounded?: true;
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
 * `events` are the messages the relay has accepted, oldest first. `noticed`: it has skep's notice that the turn has ended
 * without one. `undecided`: a signed message of the turn, or the notice, may be on the relay or may still get there; ask
 * again before the turn is given to anyone.
 */
export interface TurnPublications {
  readonly events: readonly EventId[];
  readonly noticed?: boolean;
  readonly undecided: boolean;
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
  /** How many actions under it may have left something behind (an event, a record); those under way count. 0 once it is revoked. */
  traces(sessionId: string): number;
  /** Revokes it: effective on the next byte, also for stored results. */
  closeSession(sessionId: string): void;
  /**
   * What the agent has published in that turn, in the turn's channel, and whether skep has said there that it has nothing. Resolves in bounded time, with `undecided` where
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
  /** Gives no more time to actions under way and to what is on its way to the relay, in a close that is under way and in one to come. */
  force(): void;
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
