/**
 * One agent's connection to the relay, as the rest of the broker sees it. Everything here is bounded in time, and
 * everything that waits settles when the connection is closed for good.
 */
import type { Clock, Log, Pubkey, Random } from '../../model/index.ts';
import type { Filter, PagedFilter, VerifiedEvent } from '../../nostr/index.ts';
import type { FetchResult, PublishOutcome, UpstreamPhase } from '../ports.ts';

export interface SubscriptionSpec {
  /** At most 64 characters, not beginning with `fetch-`; the same id replaces the earlier subscription. */
  readonly id: string;
  /** Called at each (re)subscription, so that a resume point is taken when it is needed. None: nothing is asked. */
  readonly filters: () => readonly Filter[];
  /**
   * Verified, matching, de-duplicated within this connection's memory. `stored` is true before EOSE. The next event of
   * any subscription waits until the promise has settled. A rejection is a bug of the subscriber and ends its
   * subscription.
   */
  readonly onEvent: (event: VerifiedEvent, stored: boolean) => Promise<void> | void;
  /** Handed its events as they come, past what other subscriptions wait for; `onEvent` is then quick and synchronous. */
  readonly urgent?: boolean;
  /** Sees each event as it comes, past whatever waits; true: that was all there was to do with it. Quick and synchronous. */
  readonly glance?: (event: VerifiedEvent) => boolean;
  /** Every EOSE, after the last stored event's promise has settled; the next event waits for a promise returned. */
  readonly onEose?: () => void | Promise<void>;
}

/** What came and was not handed on, and what was not sent; counts since the connection was opened. */
export interface UpstreamCounters {
  /** Messages that are no relay message we know, or too long. */
  readonly ignored: number;
  /** Events with a wrong form, id or signature. */
  readonly invalid: number;
  /** Events that no filter of their subscription asks for, or of no subscription. */
  readonly unmatched: number;
  /** Events handed to the same subscription before. */
  readonly duplicates: number;
  /** Publications dropped because too many wait; ephemeral ones go first. */
  readonly dropped: number;
}

export interface Upstream {
  /** In normal form, see `normalizeRelayUrl`. */
  readonly url: string;
  phase(): UpstreamPhase;
  /** Consecutive failed attempts to connect. */
  attempts(): number;
  /** The relay's or the system's last complaint, escaped and shortened. */
  lastError(): string | undefined;
  counters(): UpstreamCounters;
  /** The relay has said `rate-limited:` within the last minute: what is only a courtesy is better not sent. */
  isLimited(): boolean;
  /** False while so much waits to be handed over that the socket is not read: then silence is ours. */
  isReading(): boolean;
  /** Ends the connection, for that reason, and makes it anew as after any loss. Nothing where there is none. */
  reconnect(reason: string): void;
  /** Told of every change of phase, once it is one; quick and synchronous. For as long as the connection is. */
  watch(listener: (phase: UpstreamPhase) => void): void;
  subscribe(spec: SubscriptionSpec): void;
  unsubscribe(id: string): void;
  /** Sends the very same event again after a reconnect until an answer or the time runs out. Never rejects. */
  publish(event: VerifiedEvent, options: { readonly timeoutMs: number }): Promise<PublishOutcome>;
  /** A one-off REQ until EOSE; newest first. Never rejects. */
  fetch(filters: readonly PagedFilter[], options: { readonly timeoutMs: number }): Promise<FetchResult>;
  /** Settles everything that waits, closes the socket. Twice is once. */
  close(): Promise<void>;
}

export interface UpstreamOptions {
  /** A ws or wss URL in any spelling; anything else throws, because the configuration refuses it before. */
  readonly url: string;
  readonly pubkey: Pubkey;
  /**
   * The signed kind-22242 event for a challenge; `relayUrl` is the normal form. A promise where the key is elsewhere: an
   * answer that comes when the socket or the challenge is another one is not sent.
   */
  readonly signAuth: (challenge: string, relayUrl: string) => VerifiedEvent | Promise<VerifiedEvent>;
  /** For deadlines alone, so one that nobody sets. */
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The network; absent means a real WebSocket. */
  readonly connect?: Connect;
}

/** Opens a socket at once. The handlers are never called before `connect` has returned, nor after `lost`. */
export type Connect = (url: string, handlers: SocketHandlers) => Socket;

export interface SocketHandlers {
  readonly opened: () => void;
  /** One text message; undefined for a binary one or one that is too long to be looked at. */
  readonly message: (text: string | undefined) => void;
  readonly pong: () => void;
  readonly lost: (reason: string) => void;
}

export interface Socket {
  /** Bytes handed to the socket that the network has not taken yet. */
  backlogBytes(): number;
  send(text: string): void;
  ping(): void;
  /** Stops reading; messages already read from the network may still come. */
  pause(): void;
  resume(): void;
  /** Closes politely: what was sent before still goes out. */
  hangUp(): void;
  /** Ends it now. */
  destroy(): void;
  /** Settles when nothing of the socket is left. */
  readonly gone: Promise<void>;
}
