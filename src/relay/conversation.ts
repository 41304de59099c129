/**
 * What one client says and what it is told: identity, quotas and the dispatch of its messages. Every EVENT, AUTH and
 * COUNT gets exactly one answer; without a valid AUTH (NIP-42) that answer is `auth-required:`. Knows no socket.
 */
import { Failure, refuse, secondsOf, unreachable } from '../model/index.ts';
import type { Clock, Log } from '../model/index.ts';
import type { UnverifiedEvent } from '../nostr/index.ts';
import type { Store } from '../store/index.ts';
import type { Channels } from './access.ts';
import { closedText, countText, noticeText, okText } from './answers.ts';
import type { Answer, RelayRefusal } from './answers.ts';
import { checkAuth } from './auth.ts';
import type { Identity } from './auth.ts';
import { checkQueries } from './gates.ts';
import type { Ingest } from './ingest.ts';
import type { RelayLimits } from './limits.ts';
import type { ClientMessage } from './messages.ts';
import type { Owners } from './owners.ts';
import { countStored } from './query.ts';
import type { Reader } from './query.ts';
import { fullQuota, takeOne } from './quota.ts';
import type { Quota } from './quota.ts';
import { Readings } from './readings.ts';
import type { Outlet } from './readings.ts';
import type { Delivery } from './subscription.ts';

/** What every conversation of a relay shares. */
export interface RelayParts {
  /** What an AUTH event may name; the first is told to those who name another. */
  readonly urls: readonly [string, ...string[]];
  readonly limits: RelayLimits;
  /** For what a stamp is compared with. */
  readonly clock: Clock;
  /** For deadlines and quotas. */
  readonly steadyClock: Clock;
  readonly store: Store;
  readonly channels: Channels;
  readonly owners: Owners;
  readonly ingest: Ingest;
  readonly log: Log;
  /** Counts what `stats` tells. */
  readonly count: (what: 'accepted' | 'refused' | 'delivered', by: number) => void;
}

export class Conversation {
  readonly readings: Readings;
  readonly #parts: RelayParts;
  readonly #outlet: Outlet;
  readonly #challenge: string;
  #identity: Identity | undefined;
  #quotas: Readonly<Record<'events' | 'requests', Quota>>;

  constructor(parts: RelayParts, outlet: Outlet, challenge: string) {
    const { limits, store, log, count } = parts;
    const nowMs = parts.steadyClock.now();
    this.#parts = parts;
    this.#outlet = outlet;
    this.#challenge = challenge;
    this.#quotas = {
      events: fullQuota(limits.eventsPerSec, limits.eventsBurst, nowMs),
      requests: fullQuota(limits.requestsPerSec, limits.requestsBurst, nowMs),
    };
    this.readings = new Readings({
      store, limits, outlet, log,
      onDelivered: (delivered) => {
        count('delivered', delivered);
      },
    });
  }

  get authenticated(): boolean {
    return this.#identity !== undefined;
  }

  /** Settles when the message is answered; a replay goes on by itself. Rejects for a bug only. */
  async answer(message: ClientMessage): Promise<void> {
    switch (message.type) {
      case 'event':
        this.#sendOk(message.event.id, await this.#publish(message.event));
        return;
      case 'auth':
        this.#outlet.send(okText(message.event.id, await this.#authenticate(message.event)));
        return;
      case 'req':
      case 'count':
        await this.#request(message);
        return;
      case 'close':
        this.readings.close(message.id);
        return;
      case 'bad_event':
        this.#sendOk(message.id, message.refusal);
        return;
      case 'bad_subscription':
        this.#refuseSubscription(message.id, message.refusal);
        return;
      case 'bad_message':
        this.#outlet.send(noticeText(message.refusal));
        return;
      default:
        unreachable(message);
    }
  }

  offer(delivery: Delivery): void {
    const reader = this.#reader();
    if (reader !== undefined) this.readings.offer(delivery, reader);
  }

  async #publish(event: UnverifiedEvent): Promise<Answer> {
    const identity = this.#identity;
    if (identity === undefined) return authRequired();
    return this.#take('events') ?? this.#parts.ingest.accept(event, identity);
  }

  async #authenticate(event: UnverifiedEvent): Promise<Answer> {
    const { urls, clock, limits, owners } = this.#parts;
    const exhausted = this.#take('requests');
    if (exhausted !== undefined) return exhausted;
    const checked = checkAuth(event, {
      challenge: this.#challenge, urls, nowSec: secondsOf(clock.now()), windowSec: limits.authWindowSec,
    });
    if (!checked.ok) return checked;
    const { pubkey } = checked.identity;
    if (this.#identity !== undefined && this.#identity.pubkey !== pubkey) {
      return refuse('restricted', 'the connection is authenticated as another pubkey');
    }
    // At once, so that what is sent behind the AUTH without waiting for its OK counts as authenticated.
    this.#identity = checked.identity;
    await owners.remember(checked.identity);
    return { ok: true, note: '' };
  }

  async #request({ type, id, queries }: Extract<ClientMessage, { type: 'req' | 'count' }>): Promise<void> {
    const reader = this.#reader();
    if (reader === undefined) {
      this.#refuseSubscription(id, authRequired());
      return;
    }
    const refusal = this.#take('requests') ?? checkQueries(queries, reader.pubkey);
    if (refusal !== undefined) {
      this.#refuseSubscription(id, refusal);
      return;
    }
    if (type === 'req') {
      this.readings.open(id, queries, reader);
      return;
    }
    try {
      this.#outlet.send(countText(id, await countStored(this.#parts.store, queries, reader)));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      this.#outlet.send(closedText(id, refuse('error', `stored events could not be counted (${error.code})`)));
    }
  }

  #reader(): Reader | undefined {
    return this.#identity === undefined
      ? undefined
      : { pubkey: this.#identity.pubkey, channels: this.#parts.channels };
  }

  /** Refused is closed: an earlier subscription of that id goes too, as the client is told. */
  #refuseSubscription(id: string, refusal: RelayRefusal): void {
    this.readings.close(id);
    this.#outlet.send(closedText(id, refusal));
  }

  #sendOk(eventId: string, answer: Answer): void {
    this.#parts.count(answer.ok ? 'accepted' : 'refused', 1);
    this.#outlet.send(okText(eventId, answer));
  }

  #take(what: 'events' | 'requests'): RelayRefusal | undefined {
    const { quota, refusal } = takeOne(this.#quotas[what], this.#parts.steadyClock.now());
    this.#quotas = { ...this.#quotas, [what]: quota };
    return refusal;
  }
}

function authRequired(): RelayRefusal {
  return refuse('auth-required', 'not authenticated');
}
