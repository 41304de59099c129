/** What the relay's tests share: clocks, keys, a relay on a temporary store, and a client that speaks raw messages. */
import { randomBytes } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { channelId, later, milliseconds, pubkey, seconds } from '../../src/model/index.ts';
import type { ChannelId, Clock, Milliseconds, Pubkey } from '../../src/model/index.ts';
import { publicKeyOf, signEvent } from '../../src/nostr/index.ts';
import type { Tag, VerifiedEvent } from '../../src/nostr/index.ts';
import { openRelay } from '../../src/relay/index.ts';
import type { Relay, RelayOptions } from '../../src/relay/index.ts';
import { steadyClock, systemClock, systemRandom } from '../../src/system/index.ts';

/** A clock that stands still until it is pushed. */
export class HeldClock implements Clock {
  #nowMs: Milliseconds;
  readonly #alarms = new Set<{ readonly atMs: Milliseconds; readonly callback: () => void }>();

  constructor(nowMs = Date.now()) {
    this.#nowMs = milliseconds(nowMs);
  }

  now(): Milliseconds {
    return this.#nowMs;
  }

  wake(atMs: Milliseconds, callback: () => void): () => void {
    const alarm = { atMs, callback };
    this.#alarms.add(alarm);
    return () => {
      this.#alarms.delete(alarm);
    };
  }

  get alarms(): number {
    return this.#alarms.size;
  }

  push(byMs: number): void {
    this.#nowMs = later(this.#nowMs, byMs);
    for (const alarm of [...this.#alarms].filter(({ atMs }) => atMs <= this.#nowMs)) {
      this.#alarms.delete(alarm);
      alarm.callback();
    }
  }
}

/** A person with a key. The same name is the same key. */
export interface Person {
  readonly key: Uint8Array;
  readonly pubkey: Pubkey;
  sign(kind: number, tags?: readonly Tag[], content?: string, createdAtSec?: number): VerifiedEvent;
}

export function person(number: number): Person {
  const key = new Uint8Array(32).fill(0);
  key[31] = number;
  const own = pubkey(Buffer.from(publicKeyOf(key) ?? []).toString('hex'));
  return {
    key,
    pubkey: own,
    sign: (kind, tags = [], content = '', createdAtSec = Math.floor(Date.now() / 1000)) =>
      signEvent({ kind, tags, content, created_at: seconds(createdAtSec) }, key, randomBytes(32)),
  };
}

export const alice = person(1);
export const bob = person(2);
export const carol = person(3);
export const relayKey = person(99).key;

export const OPEN: ChannelId = channelId('00000000-0000-4000-8000-000000000001');
export const PRIVATE: ChannelId = channelId('00000000-0000-4000-8000-000000000002');

/** A relay in memory, closed when the test ends, with an open channel of alice and a private one of alice and bob. */
export async function startRelay(options: Partial<RelayOptions> = {}): Promise<Relay> {
  const relay = await openRelay({
    port: 0,
    storePath: ':memory:',
    secretKey: relayKey,
    clock: systemClock,
    // A held clock holds both, unless a test pulls them apart.
    steadyClock: options.clock ?? steadyClock,
    random: systemRandom,
    seedChannels: [
      { id: OPEN, name: 'square', visibility: 'open', members: [{ pubkey: alice.pubkey, role: 'admin' }] },
      {
        id: PRIVATE, name: 'den', about: 'quiet', visibility: 'private',
        members: [{ pubkey: alice.pubkey, role: 'admin' }, { pubkey: bob.pubkey, role: 'member' }],
      },
    ],
    ...options,
  });
  onTestFinished(() => relay.close());
  return relay;
}

export type Message = readonly unknown[];

/** Speaks to the relay as it is written on the wire. Every message is seen by exactly one `next`. */
export class Client {
  readonly socket: WebSocket;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  readonly #url: string;
  #messages: Message[] = [];
  #waiting: { readonly wanted: (message: Message) => boolean; readonly resolve: (message: Message) => void }[] = [];

  private constructor(url: string) {
    this.#url = url;
    this.socket = new WebSocket(url);
    this.socket.on('message', (data: Buffer) => {
      const message: unknown = JSON.parse(data.toString('utf8'));
      if (Array.isArray(message)) this.#take(message);
    });
    this.closed = new Promise((resolve) => {
      this.socket.on('close', (code, reason) => {
        resolve({ code, reason: reason.toString() });
      });
    });
    this.socket.on('error', () => undefined);
  }

  static async open(relay: { readonly url: string }): Promise<Client> {
    const client = new Client(relay.url);
    await new Promise((resolve, reject) => {
      client.socket.once('open', resolve);
      client.socket.once('error', reject);
    });
    onTestFinished(() => {
      client.socket.terminate();
    });
    return client;
  }

  /** Connected and authenticated. */
  static async as(someone: Person, relay: { readonly url: string }, tags: readonly Tag[] = []): Promise<Client> {
    const client = await Client.open(relay);
    const challenge = String((await client.next('AUTH'))[1]);
    const answer = await client.auth(someone, challenge, tags);
    if (answer[2] !== true) throw new Error(`AUTH refused: ${String(answer[3])}`);
    return client;
  }

  auth(someone: Person, challenge: string, tags: readonly Tag[] = [], url = this.#url): Promise<Message> {
    const event = someone.sign(22242, [['relay', url], ['challenge', challenge], ...tags]);
    this.send(['AUTH', event]);
    return this.ok(event.id);
  }

  send(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** The next message of that verb, and where given of that subject. */
  next(verb: string, subject?: string): Promise<Message> {
    const wanted = (message: Message): boolean =>
      message[0] === verb && (subject === undefined || message[1] === subject);
    const at = this.#messages.findIndex(wanted);
    const [found] = at < 0 ? [] : this.#messages.splice(at, 1);
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve) => {
      this.#waiting.push({ wanted, resolve });
    });
  }

  ok(eventId: string): Promise<Message> {
    return this.next('OK', eventId);
  }

  /** Publishes and returns `[accepted, reason]`. */
  async publish(event: VerifiedEvent): Promise<readonly [unknown, unknown]> {
    this.send(['EVENT', event]);
    const answer = await this.ok(event.id);
    return [answer[2], answer[3]];
  }

  /** Opens a subscription and returns the ids of what is stored, as they came; it stays open. */
  async stored(id: string, ...filters: readonly object[]): Promise<readonly string[]> {
    this.send(['REQ', id, ...filters]);
    await this.next('EOSE', id);
    return this.received(id);
  }

  /** The ids delivered to a subscription and not looked at yet. */
  received(id: string): readonly string[] {
    return this.receivedEvents(id).map((event) => event.id);
  }

  receivedEvents(id: string): readonly VerifiedEvent[] {
    const mine = this.#messages.filter((message) => message[0] === 'EVENT' && message[1] === id);
    this.#messages = this.#messages.filter((message) => !mine.includes(message));
    return mine.map((message) => message[2] as VerifiedEvent);
  }

  /** The messages of that verb that no `next` has taken. */
  seen(verb: string): readonly Message[] {
    return this.#messages.filter((message) => message[0] === verb);
  }

  async nextEvent(id: string): Promise<VerifiedEvent> {
    return (await this.next('EVENT', id))[2] as VerifiedEvent;
  }

  #take(message: Message): void {
    const at = this.#waiting.findIndex(({ wanted }) => wanted(message));
    const [waiter] = at < 0 ? [] : this.#waiting.splice(at, 1);
    if (waiter === undefined) this.#messages.push(message);
    else waiter.resolve(message);
  }
}
