/**
 * One agent's connection to the relay, as the rest of the broker sees it. Everything here is bounded in time, and
 * everything that waits settles when the connection is closed for good.
 */
import type { Filter, VerifiedEvent } from '../../nostr/index.ts';
import type { FetchResult, PublishOutcome, UpstreamPhase } from '../ports.ts';

export interface SubscriptionSpec {
  /** At most 64 characters; the same id replaces the earlier subscription. */
  readonly id: string;
  /** Called at each (re)subscription, so that a resume point is taken when it is needed. */
  readonly filters: () => readonly Filter[];
  /**
   * Verified, de-duplicated within this connection's memory. `stored` is true before EOSE. The next event of any
   * subscription waits until the promise has settled.
   */
  readonly onEvent: (event: VerifiedEvent, stored: boolean) => Promise<void>;
  /** Every EOSE, after the last stored event's promise has settled. */
  readonly onEose?: () => void;
}

export interface Upstream {
  readonly url: string;
  phase(): UpstreamPhase;
  /** Consecutive failed attempts to connect. */
  attempts(): number;
  lastError(): string | undefined;
  subscribe(spec: SubscriptionSpec): void;
  unsubscribe(id: string): void;
  /** Sends the very same event again after a reconnect until an answer or the time runs out. Never rejects. */
  publish(event: VerifiedEvent, options: { readonly timeoutMs: number }): Promise<PublishOutcome>;
  /** A one-off REQ until EOSE. Never rejects. */
  fetch(filters: readonly Filter[], options: { readonly timeoutMs: number }): Promise<FetchResult>;
  /** Settles everything that waits, closes the socket. Twice is once. */
  close(): Promise<void>;
}
