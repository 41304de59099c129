/**
 * The subscriptions of one connection. Each begins with a replay of what is stored, in pages that wait for the
 * socket, so that a long answer to a slow client costs a page of memory; then it is live.
 */
import { Failure, refuse } from '../model/index.ts';
import type { Log } from '../model/index.ts';
import type { Store } from '../store/index.ts';
import { maySee } from './access.ts';
import { closedText, eoseText, eventText } from './answers.ts';
import type { RelayLimits } from './limits.ts';
import type { Query } from './messages.ts';
import { findStored, newestSeq, readStored } from './query.ts';
import type { Reader } from './query.ts';
import { Subscription } from './subscription.ts';
import type { Delivery } from './subscription.ts';

/** The sending side of a socket. Nothing is sent, and nothing thrown, once it is closed. */
export interface Outlet {
  send(text: string): void;
  /** Sends no faster than the socket takes; resolves when it has room for more, or is gone. */
  sendAll(texts: readonly string[]): Promise<void>;
}

export interface ReadingsOptions {
  readonly store: Store;
  readonly limits: RelayLimits;
  readonly outlet: Outlet;
  readonly log: Log;
  readonly onDelivered: (count: number) => void;
}

/** Stored events are read and sent this many at a time. */
const REPLAY_PAGE = 32;

export class Readings {
  readonly #options: ReadingsOptions;
  readonly #subscriptions = new Map<string, Subscription>();

  constructor(options: ReadingsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#subscriptions.size;
  }

  /** Characters held back for replays under way. */
  get heldLength(): number {
    let length = 0;
    for (const subscription of this.#subscriptions.values()) length += subscription.heldLength;
    return length;
  }

  /** Opens a subscription, in place of an earlier one of that id. Its replay goes on by itself and never rejects. */
  open(id: string, queries: readonly Query[], reader: Reader): void {
    const { maxSubscriptions } = this.#options.limits;
    if (!this.#subscriptions.has(id) && this.#subscriptions.size >= maxSubscriptions) {
      const refusal = refuse('restricted', `a connection has at most ${maxSubscriptions} subscriptions`);
      this.#options.outlet.send(closedText(id, refusal));
      return;
    }
    const subscription = new Subscription(id, queries);
    this.#subscriptions.set(id, subscription);
    void this.#replay(subscription, reader).catch((error: unknown) => {
      this.#breakOff(subscription, error);
    });
  }

  close(id: string): void {
    this.#subscriptions.delete(id);
  }

  clear(): void {
    this.#subscriptions.clear();
  }

  /** Gives a live event to every subscription that wants it, if the reader may see it. */
  offer(delivery: Delivery, reader: Reader): void {
    let visible: boolean | undefined;
    for (const subscription of this.#subscriptions.values()) {
      if (!subscription.wants(delivery.event)) continue;
      visible ??= maySee(delivery.audience, delivery.event, reader.pubkey, reader.channels);
      if (!visible) return;
      const text = subscription.offer(delivery);
      if (text === undefined) continue;
      this.#options.outlet.send(text);
      this.#options.onDelivered(1);
    }
  }

  async #replay(subscription: Subscription, reader: Reader): Promise<void> {
    const { store, limits, outlet } = this.#options;
    const cutSeq = await newestSeq(store);
    const places = await findStored(store, subscription.queries, reader, cutSeq, limits);
    for (let at = 0; at < places.length; at += REPLAY_PAGE) {
      if (!this.#isOpen(subscription)) return;
      const texts = await readStored(store, places.slice(at, at + REPLAY_PAGE), reader);
      if (!this.#isOpen(subscription)) return;
      this.#options.onDelivered(texts.length);
      await outlet.sendAll(texts.map((json) => eventText(subscription.id, json)));
    }
    if (!this.#isOpen(subscription)) return;
    outlet.send(eoseText(subscription.id));
    for (const text of subscription.goLive(cutSeq)) {
      outlet.send(text);
      this.#options.onDelivered(1);
    }
  }

  #breakOff(subscription: Subscription, error: unknown): void {
    if (!this.#isOpen(subscription)) return;
    this.#subscriptions.delete(subscription.id);
    const code = error instanceof Failure ? error.code : 'bug';
    this.#options.log.error('stored events not read', { code, detail: error instanceof Error ? error.message : '' });
    const refusal = refuse('error', `stored events could not be read (${code})`);
    this.#options.outlet.send(closedText(subscription.id, refusal));
  }

  /** False once it is closed or another has taken its id. */
  #isOpen(subscription: Subscription): boolean {
    return this.#subscriptions.get(subscription.id) === subscription;
  }
}
