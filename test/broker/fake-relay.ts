/**
 * A relay in memory behind the `Upstream` port: what was sent, what it keeps, and how it answers the next sends. The
 * answers are the ones that decide a record's life; everything else of a connection has its own tests.
 */
import type { EventId } from '../../src/model/index.ts';
import { matchesFilter } from '../../src/nostr/index.ts';
import type { Filter, VerifiedEvent } from '../../src/nostr/index.ts';
import type { FetchResult, PublishOutcome, UpstreamPhase } from '../../src/broker/ports.ts';
import type { SubscriptionSpec, Upstream } from '../../src/broker/upstream/index.ts';

export type Answer =
  | 'accept'
  /** Kept, but the connection is cut before the OK. */
  | 'accept silently'
  /** Never arrives. */
  | 'lose'
  /** Kept, and the answer waits for `release`. */
  | 'hold'
  | { readonly reject: string };

export class FakeRelay {
  readonly sent: VerifiedEvent[] = [];
  readonly kept = new Map<EventId, VerifiedEvent>();
  readonly subscriptions = new Map<string, SubscriptionSpec>();
  readonly asked: (readonly Filter[])[] = [];
  /** How the next sends are answered, in order; then `accept`. */
  readonly answers: Answer[] = [];
  readable = true;
  /** What it says where it is not readable; nothing, it does not answer. */
  refusal: string | undefined;
  /** Questions are answered after it. */
  gate: Promise<void> = Promise.resolve();
  /** The most events one question is answered with. */
  maxLimit = 10_000;
  closed = false;
  /** It has said `rate-limited:`. */
  limited = false;
  /** Who is told of the connection's phases. */
  readonly watchers: ((phase: UpstreamPhase) => void)[] = [];
  #held: (() => void)[] = [];
  #watchers: (() => void)[] = [];

  keep(...events: readonly VerifiedEvent[]): void {
    for (const event of events) this.kept.set(event.id, event);
  }

  /** Answers every held send. */
  release(): void {
    for (const answer of this.#held.splice(0)) answer();
  }

  /** Resolves when `count` sends have come. */
  sends(count: number): Promise<void> {
    return this.#until(() => this.sent.length >= count);
  }

  /** Resolves when `count` questions have come. */
  questions(count: number): Promise<void> {
    return this.#until(() => this.asked.length >= count);
  }

  /** The subscription that asks for `event`, as soon as there is one. */
  async subscribedTo(event: VerifiedEvent): Promise<SubscriptionSpec> {
    const asking = (): SubscriptionSpec | undefined =>
      [...this.subscriptions.values()].find((spec) => spec.filters().some((filter) => matchesFilter(filter, event)));
    await this.#until(() => asking() !== undefined);
    return asking() ?? this.subscribedTo(event);
  }

  readonly open = (): Upstream => ({
    url: RELAY_URL,
    phase: () => (this.closed ? 'closed' : 'ready'),
    attempts: () => 0,
    lastError: () => undefined,
    counters: () => ({ ignored: 0, invalid: 0, unmatched: 0, duplicates: 0, dropped: 0 }),
    isLimited: () => this.limited,
    isReading: () => true,
    reconnect: () => {},
    watch: (listener) => { this.watchers.push(listener); },
    subscribe: (spec) => {
      this.subscriptions.set(spec.id, spec);
      this.#look();
    },
    unsubscribe: (id) => {
      this.subscriptions.delete(id);
    },
    publish: (event) => this.#publish(event),
    fetch: (filters) => this.#fetch(filters),
    close: async () => {
      this.closed = true;
      this.release();
      return Promise.resolve();
    },
  });

  async #publish(event: VerifiedEvent): Promise<PublishOutcome> {
    this.sent.push(event);
    this.#look();
    const answer = this.answers.shift() ?? 'accept';
    const eventId = event.id;
    if (typeof answer === 'object') return { status: 'rejected', eventId, reason: answer.reject };
    if (answer === 'lose') return { status: 'unknown', eventId, reason: 'the connection was lost' };
    this.keep(event);
    if (answer === 'hold') await new Promise<void>((resolve) => this.#held.push(resolve));
    return answer === 'accept silently'
      ? { status: 'unknown', eventId, reason: 'the connection was lost' }
      : { status: 'accepted', eventId };
  }

  async #fetch(filters: readonly Filter[]): Promise<FetchResult> {
    this.asked.push(filters);
    this.#look();
    const { readable, refusal } = this;
    await this.gate;
    if (!readable) return Promise.resolve({ events: [], complete: false, ...(refusal !== undefined && { refusal }) });
    const newest = [...this.kept.values()].sort((a, b) => b.created_at - a.created_at || (a.id < b.id ? -1 : 1));
    const found = new Set(
      filters.flatMap((filter) =>
        newest
          .filter((event) => matchesFilter(filter, event))
          .slice(0, Math.min(filter.limit ?? this.maxLimit, this.maxLimit)),
      ),
    );
    return Promise.resolve({ events: newest.filter((event) => found.has(event)), complete: true });
  }

  #until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (condition()) resolve();
        else this.#watchers.push(look);
      };
      look();
    });
  }

  #look(): void {
    for (const watcher of this.#watchers.splice(0)) watcher();
  }
}

export const RELAY_URL = 'wss://relay.example';
