/**
 * Drives the connection machine: performs its commands on a socket, feeds back what the network, the clock and the
 * callers say, one input at a time. Holds what the machine need not know: filters, callbacks, promises.
 *
 * Opening starts to connect at once and goes on for ever, until `close`. Never signs, never decides; logs no content.
 */
import { later, unreachable } from '../../model/index.ts';
import type { EventId } from '../../model/index.ts';
import type { Filter, PagedFilter, VerifiedEvent } from '../../nostr/index.ts';
import type { FetchResult, PublishOutcome, UpstreamPhase } from '../ports.ts';
import { Alarm } from './alarm.ts';
import { INITIAL, lineOf, nextWakeMs } from './connection.ts';
import type { Command, Input, Link } from './connection.ts';
import { Delivery } from './delivery.ts';
import { Fetches } from './fetches.ts';
import { Intake } from './intake.ts';
import {
  LIMITED_MS, MAX_DELIVERIES, MAX_DELIVERIES_IN_FETCH, MAX_FETCHES, MAX_SOCKET_BACKLOG_BYTES, MAX_SUBSCRIPTION_ID,
} from './limits.ts';
import { step } from './machine.ts';
import { authText, eventText, parseRelayMessage, requestText } from './messages.ts';
import type { Settlement } from './outbox.ts';
import type { Socket, SubscriptionSpec, Upstream, UpstreamOptions } from './ports.ts';
import { webSockets } from './socket.ts';
import { normalizeRelayUrl } from './url.ts';

interface Subscription {
  readonly spec: SubscriptionSpec;
  readonly incarnation: number;
  /** As last asked for. */
  readonly filters: readonly Filter[];
}

const FETCH_PREFIX = 'fetch-';

/** Throws (a bug: the configuration refuses it before) when `url` is not a ws or wss URL. */
export function openUpstream(options: UpstreamOptions): Upstream {
  const relay = normalizeRelayUrl(options.url);
  if (!relay.ok) throw new TypeError(relay.detail);
  const upstream = new Driver(relay.url, options);
  upstream.start();
  return upstream;
}

class Driver implements Upstream {
  readonly url: string;
  readonly #options: UpstreamOptions;
  readonly #connect: NonNullable<UpstreamOptions['connect']>;
  readonly #intake = new Intake();
  readonly #delivery: Delivery;
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #fetches = new Fetches();
  readonly #publications = new Map<number, (settlement: Settlement) => void>();
  readonly #sockets = new Set<Socket>();
  readonly #alarm: Alarm;
  readonly #watchers: ((phase: UpstreamPhase) => void)[] = [];
  #socket: Socket | undefined;
  #state = INITIAL;
  #inputs: Input[] = [];
  #running = false;
  #serial = 0;
  /** The latest call for a signature: an earlier one's answer is for nothing. */
  #signing = 0;
  #dropped = 0;

  constructor(url: string, options: UpstreamOptions) {
    this.url = url;
    this.#options = options;
    this.#connect = options.connect ?? webSockets(options.clock);
    this.#delivery = new Delivery(MAX_DELIVERIES, {
      onPressure: (full) => {
        if (full) this.#socket?.pause();
        else this.#socket?.resume();
        this.#feed({ type: full ? 'paused' : 'resumed' });
      },
      onFailure: (error) => {
        options.log.error('relay: a subscriber failed', { agent: options.pubkey, error });
      },
    });
    this.#alarm = new Alarm(options.clock, () => {
      this.#feed({ type: 'tick', chance: options.random.fraction() });
    });
  }

  /** Begins to connect. Called once, by `openUpstream`. */
  start(): void {
    this.#feed({ type: 'start' });
  }

  phase(): UpstreamPhase {
    return phaseOf(this.#state.link);
  }

  attempts(): number {
    return this.#state.attempts;
  }

  lastError(): string | undefined {
    return this.#state.lastError;
  }

  counters(): ReturnType<Upstream['counters']> {
    return { ...this.#intake.counts(), dropped: this.#dropped };
  }

  isLimited(): boolean {
    const limitedAtMs = lineOf(this.#state.link)?.limitedAtMs;
    return limitedAtMs !== undefined && this.#options.clock.now() < later(limitedAtMs, LIMITED_MS);
  }

  isReading(): boolean {
    return lineOf(this.#state.link)?.pingDueMs !== undefined;
  }

  reconnect(reason: string): void {
    this.#take()?.destroy();
    this.#feed({ type: 'lost', reason, chance: this.#options.random.fraction() });
  }

  watch(listener: (phase: UpstreamPhase) => void): void {
    this.#watchers.push(listener);
  }

  subscribe(spec: SubscriptionSpec): void {
    const { id } = spec;
    if (id === '' || id.length > MAX_SUBSCRIPTION_ID || id.startsWith(FETCH_PREFIX)) {
      throw new TypeError(`subscription id: expected 1..${MAX_SUBSCRIPTION_ID} characters, not beginning with ${FETCH_PREFIX}`);
    }
    if (this.#state.link.status === 'closed') return;
    this.#subscriptions.set(id, { spec, incarnation: this.#next(), filters: [] });
    this.#feed({ type: 'subscribe', id });
  }

  unsubscribe(id: string): void {
    if (this.#subscriptions.delete(id)) this.#feed({ type: 'unsubscribe', id });
  }

  publish(event: VerifiedEvent, { timeoutMs }: { readonly timeoutMs: number }): Promise<PublishOutcome> {
    const ticket = this.#next();
    const ephemeral = event.kind >= 20_000 && event.kind < 30_000;
    return new Promise((resolve) => {
      this.#publications.set(ticket, (settlement) => { resolve(outcomeOf(settlement, event.id)); });
      if (ephemeral && (this.#socket?.backlogBytes() ?? 0) > MAX_SOCKET_BACKLOG_BYTES) {
        this.#settle(ticket, { status: 'dropped', reason: 'the relay reads too slowly' });
        return;
      }
      const deadlineMs = later(this.#options.clock.now(), timeoutMs);
      const publication = { ticket, eventId: event.id, text: eventText(event), ephemeral, deadlineMs };
      this.#feed({ type: 'publish', publication });
    });
  }

  fetch(filters: readonly PagedFilter[], { timeoutMs }: { readonly timeoutMs: number }): Promise<FetchResult> {
    if (filters.length === 0) return Promise.resolve({ events: [], complete: true });
    if (this.#fetches.size >= MAX_FETCHES) return Promise.resolve({ events: [], complete: false });
    const id = `${FETCH_PREFIX}${this.#next()}`;
    return new Promise((resolve) => {
      this.#fetches.begin(id, filters, resolve);
      this.#delivery.setLimit(MAX_DELIVERIES_IN_FETCH);
      this.#feed({ type: 'fetch', id, deadlineMs: later(this.#options.clock.now(), timeoutMs) });
    });
  }

  async close(): Promise<void> {
    this.#feed({ type: 'close' });
    this.#subscriptions.clear();
    this.#delivery.stop();
    await Promise.all([...this.#sockets].map((socket) => socket.gone));
  }

  #next(): number {
    this.#serial += 1;
    return this.#serial;
  }

  /** One input at a time: what a command leads to waits until the commands before it are done. */
  #feed(input: Input): void {
    this.#inputs.push(input);
    if (this.#running) return;
    this.#running = true;
    try {
      for (let next = this.#inputs.shift(); next !== undefined; next = this.#inputs.shift()) {
        const { state, commands } = step(this.#state, next, this.#options.clock.now());
        const from = phaseOf(this.#state.link);
        this.#state = state;
        this.#tell(from);
        for (const command of commands) this.#perform(command);
      }
    } finally {
      this.#running = false;
    }
    this.#alarm.set(nextWakeMs(this.#state));
  }

  #perform(command: Command): void {
    switch (command.type) {
      case 'connect':
        this.#open();
        return;
      case 'disconnect':
        this.#take()?.destroy();
        return;
      case 'hang-up':
        this.#take()?.hangUp();
        return;
      case 'send':
        this.#socket?.send(command.text);
        return;
      case 'ping':
        this.#socket?.ping();
        return;
      case 'sign':
        this.#sign(command.challenge);
        return;
      case 'request':
        this.#request(command.id);
        return;
      case 'deliver':
        this.#deliver(command.id, (spec) => spec.onEvent(command.event, command.stored), command.event);
        return;
      case 'eose':
        this.#deliver(command.id, (spec) => spec.onEose?.());
        return;
      case 'collect':
        if (!this.#fetches.collect(command.id, command.event)) this.#feed({ type: 'unsubscribe', id: command.id });
        return;
      case 'finish':
        this.#fetches.finish(command.id, command.complete);
        if (this.#fetches.size === 0) this.#delivery.setLimit(MAX_DELIVERIES);
        return;
      case 'settle':
        this.#settle(command.ticket, command.settlement);
        return;
      default:
        unreachable(command);
    }
  }

  #open(): void {
    // Whatever a socket says after it was let go is no input of the machine.
    const current = (act: () => void): void => {
      if (this.#socket === socket) act();
    };
    const socket: Socket = this.#connect(this.url, {
      opened: () => { current(() => { this.#feed({ type: 'opened' }); }); },
      message: (text) => { current(() => { this.#message(text); }); },
      pong: () => { current(() => { this.#feed({ type: 'pong' }); }); },
      lost: (reason) => {
        current(() => {
          this.#socket = undefined;
          this.#feed({ type: 'lost', reason, chance: this.#options.random.fraction() });
        });
      },
    });
    this.#socket = socket;
    this.#sockets.add(socket);
    void socket.gone.then(() => this.#sockets.delete(socket));
  }

  #take(): Socket | undefined {
    const socket = this.#socket;
    this.#socket = undefined;
    return socket;
  }

  #message(text: string | undefined): void {
    const message = text === undefined ? undefined : parseRelayMessage(text);
    if (message === undefined) {
      this.#intake.ignore();
      return;
    }
    if (message.type !== 'event') {
      this.#feed({ type: 'message', message, chance: this.#options.random.fraction() });
      return;
    }
    const event = this.#intake.check(message.event, this.#subscriptions.get(message.id) ?? this.#fetches.get(message.id));
    // What is dropped is a sign of life all the same.
    this.#feed(event === undefined ? { type: 'pong' } : { type: 'event', id: message.id, event });
  }

  #sign(challenge: string): void {
    const socket = this.#socket;
    this.#signing = this.#next();
    const mine = this.#signing;
    const current = (act: () => void): void => {
      if (this.#socket === socket && this.#signing === mine) act();
    };
    try {
      const signed = this.#options.signAuth(challenge, this.url);
      if (!(signed instanceof Promise)) this.#signed(signed);
      else signed.then((event) => current(() => this.#signed(event)), (error: unknown) => current(() => this.#unsigned(error)));
    } catch (error) {
      this.#unsigned(error);
    }
  }

  #signed(event: VerifiedEvent): void {
    this.#feed({ type: 'signed', eventId: event.id, text: authText(event) });
  }

  #unsigned(error: unknown): void {
    this.#options.log.error('relay: the AUTH event could not be signed', { agent: this.#options.pubkey, error });
    this.#take()?.destroy();
    this.#feed({ type: 'lost', reason: 'AUTH could not be signed', chance: this.#options.random.fraction() });
  }

  #request(id: string): void {
    const subscription = this.#subscriptions.get(id);
    const filters = subscription?.spec.filters() ?? this.#fetches.get(id)?.filters ?? [];
    if (subscription !== undefined) this.#subscriptions.set(id, { ...subscription, filters });
    // NIP-01 knows no REQ without a filter.
    if (filters.length > 0) this.#socket?.send(requestText(id, filters));
  }

  #deliver(id: string, hand: (spec: SubscriptionSpec) => void | Promise<void>, event?: VerifiedEvent): void {
    const asked = this.#subscriptions.get(id);
    if (asked === undefined) return;
    if (event !== undefined && asked.spec.glance?.(event) === true) return;
    const { incarnation } = asked;
    if (event !== undefined) this.#intake.handedOver(event, incarnation);
    this.#delivery.push(async () => {
      const subscription = this.#subscriptions.get(id);
      if (subscription?.incarnation !== incarnation) return;
      try {
        await hand(subscription.spec);
      } catch (error) {
        if (this.#subscriptions.get(id)?.incarnation === incarnation) this.unsubscribe(id);
        throw error;
      }
    }, asked.spec.urgent);
  }

  #settle(ticket: number, settlement: Settlement): void {
    if (settlement.status === 'dropped') this.#dropped += 1;
    this.#publications.get(ticket)?.(settlement);
    this.#publications.delete(ticket);
  }

  #tell(from: UpstreamPhase): void {
    const to = this.phase();
    if (from === to) return;
    const { lastError } = this.#state;
    const fields = { agent: this.#options.pubkey, relay: this.url, ...(to === 'waiting' ? { reason: lastError } : {}) };
    if (to === 'waiting') this.#options.log.warn('relay: not connected', fields);
    else if (to === 'ready') this.#options.log.info('relay: connected', fields);
    else this.#options.log.debug(`relay: ${to}`, fields);
    for (const watcher of this.#watchers) watcher(to);
  }
}

function phaseOf(link: Link): UpstreamPhase {
  return link.status === 'greeting' ? 'authenticating' : link.status;
}

function outcomeOf(settlement: Settlement, eventId: EventId): PublishOutcome {
  switch (settlement.status) {
    case 'accepted':
      return { status: 'accepted', eventId };
    case 'rejected':
      return { status: 'rejected', eventId, reason: settlement.reason };
    case 'unknown':
      return { status: 'unknown', eventId, reason: settlement.reason };
    case 'dropped':
      return { status: 'unknown', eventId, reason: `dropped: ${settlement.reason}` };
    default:
      return unreachable(settlement);
  }
}
