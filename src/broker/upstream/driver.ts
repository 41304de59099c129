/**
 * Drives the connection machine: performs its commands, feeds back what the network, the clock and the callers say, one
 * input at a time. What the machine need not know is held beside it: the socket (`current-socket.ts`), the subscribers
 * (`subscriptions.ts`), whoever waits for a fetch (`fetches.ts`) or a publication (`publications.ts`).
 *
 * Opening starts to connect at once and goes on for ever, until `close`. Never signs, never decides; logs no content.
 */
import { later, unreachable } from '../../model/index.ts';
import type { PagedFilter, VerifiedEvent } from '../../nostr/index.ts';
import type { FetchResult, PublishOutcome, UpstreamPhase } from '../ports.ts';
import { Alarm } from './alarm.ts';
import { INITIAL, lineOf, nextWakeMs } from './connection.ts';
import type { Command, Input, Link } from './connection.ts';
import { CurrentSocket } from './current-socket.ts';
import { Delivery } from './delivery.ts';
import { Fetches } from './fetches.ts';
import { Intake } from './intake.ts';
import {
  LIMITED_MS, MAX_DELIVERIES, MAX_DELIVERIES_IN_FETCH, MAX_FETCHES, MAX_SOCKET_BACKLOG_BYTES, MAX_SUBSCRIPTION_ID,
} from './limits.ts';
import { step } from './machine.ts';
import { authText, eventText, parseRelayMessage, requestText } from './messages.ts';
import type { SubscriptionSpec, Upstream, UpstreamOptions } from './ports.ts';
import { Publications } from './publications.ts';
import { Signing } from './signing.ts';
import { webSockets } from './socket.ts';
import { Subscriptions } from './subscriptions.ts';
import { normalizeRelayUrl } from './url.ts';

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
  readonly #socket: CurrentSocket;
  readonly #signing: Signing;
  readonly #intake = new Intake();
  readonly #delivery: Delivery;
  readonly #subscriptions: Subscriptions;
  readonly #fetches = new Fetches();
  readonly #publications = new Publications();
  readonly #alarm: Alarm;
  readonly #watchers: ((phase: UpstreamPhase) => void)[] = [];
  #state = INITIAL;
  #inputs: Input[] = [];
  #running = false;
  #serial = 0;

  constructor(url: string, options: UpstreamOptions) {
    this.url = url;
    this.#options = options;
    const connect = options.connect ?? webSockets(options.clock);
    this.#socket = new CurrentSocket((handlers) => connect(url, handlers));
    this.#signing = new Signing({
      sign: (challenge) => options.signAuth(challenge, url),
      socketNow: () => this.#socket.current,
      onSigned: (event) => { this.#feed({ type: 'signed', eventId: event.id, text: authText(event) }); },
      onUnsigned: (error) => { this.#unsigned(error); },
    });
    this.#delivery = new Delivery(MAX_DELIVERIES, {
      onPressure: (full) => {
        if (full) this.#socket.current?.pause();
        else this.#socket.current?.resume();
        this.#feed({ type: full ? 'paused' : 'resumed' });
      },
      onFailure: (error) => {
        options.log.error('relay: a subscriber failed', { agent: options.pubkey, error });
      },
    });
    this.#subscriptions = new Subscriptions({
      delivery: this.#delivery, intake: this.#intake, onFailed: (id) => { this.unsubscribe(id); },
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
    return { ...this.#intake.counts(), dropped: this.#publications.dropped };
  }

  isLimited(): boolean {
    const limitedAtMs = lineOf(this.#state.link)?.limitedAtMs;
    return limitedAtMs !== undefined && this.#options.clock.now() < later(limitedAtMs, LIMITED_MS);
  }

  isReading(): boolean {
    return lineOf(this.#state.link)?.pingDueMs !== undefined;
  }

  reconnect(reason: string): void {
    this.#socket.take()?.destroy();
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
    this.#subscriptions.add(spec, this.#next());
    this.#feed({ type: 'subscribe', id });
  }

  unsubscribe(id: string): void {
    if (this.#subscriptions.delete(id)) this.#feed({ type: 'unsubscribe', id });
  }

  publish(event: VerifiedEvent, { timeoutMs }: { readonly timeoutMs: number }): Promise<PublishOutcome> {
    const ticket = this.#next();
    const ephemeral = event.kind >= 20_000 && event.kind < 30_000;
    return new Promise((resolve) => {
      this.#publications.begin(ticket, event.id, resolve);
      if (ephemeral && (this.#socket.current?.backlogBytes() ?? 0) > MAX_SOCKET_BACKLOG_BYTES) {
        this.#publications.settle(ticket, { status: 'dropped', reason: 'the relay reads too slowly' });
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
    await this.#socket.gone();
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
        this.#socket.take()?.destroy();
        return;
      case 'hang-up':
        this.#socket.take()?.hangUp();
        return;
      case 'send':
        this.#socket.current?.send(command.text);
        return;
      case 'ping':
        this.#socket.current?.ping();
        return;
      case 'sign':
        this.#signing.begin(command.challenge);
        return;
      case 'request':
        this.#request(command.id);
        return;
      case 'deliver':
        this.#subscriptions.event(command.id, command.event, command.stored);
        return;
      case 'eose':
        this.#subscriptions.eose(command.id);
        return;
      case 'collect':
        if (!this.#fetches.collect(command.id, command.event)) this.#feed({ type: 'unsubscribe', id: command.id });
        return;
      case 'finish':
        this.#fetches.finish(command.id, command.complete, command.refusal);
        if (this.#fetches.size === 0) this.#delivery.setLimit(MAX_DELIVERIES);
        return;
      case 'settle':
        this.#publications.settle(command.ticket, command.settlement);
        return;
      default:
        unreachable(command);
    }
  }

  #open(): void {
    this.#socket.open({
      opened: () => { this.#feed({ type: 'opened' }); },
      message: (text) => { this.#message(text); },
      pong: () => { this.#feed({ type: 'pong' }); },
      lost: (reason) => { this.#feed({ type: 'lost', reason, chance: this.#options.random.fraction() }); },
    });
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
    const event = this.#intake.check(message.event, this.#subscriptions.asker(message.id) ?? this.#fetches.asker(message.id));
    // What is dropped is a sign of life all the same.
    this.#feed(event === undefined ? { type: 'pong' } : { type: 'event', id: message.id, event });
  }

  #unsigned(error: unknown): void {
    this.#options.log.error('relay: the AUTH event could not be signed', { agent: this.#options.pubkey, error });
    this.#socket.take()?.destroy();
    this.#feed({ type: 'lost', reason: 'AUTH could not be signed', chance: this.#options.random.fraction() });
  }

  #request(id: string): void {
    const filters = this.#subscriptions.filters(id) ?? this.#fetches.asker(id)?.filters ?? [];
    // NIP-01 knows no REQ without a filter.
    if (filters.length > 0) this.#socket.current?.send(requestText(id, filters));
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
