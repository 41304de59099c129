/** One data directory, one relay, and an agent's feed started and stopped on them; all gone after each test. */
import { join } from 'node:path';
import { expect } from 'vitest';
import { openFeed } from '../../../src/broker/feed/index.ts';
import type { Feed, FeedOptions } from '../../../src/broker/feed/index.ts';
import type { FeedItem } from '../../../src/broker/ports.ts';
import { openUpstream } from '../../../src/broker/upstream/index.ts';
import type { Upstream } from '../../../src/broker/upstream/index.ts';
import { channelId, seconds, silentLog } from '../../../src/model/index.ts';
import type { ChannelId, Log } from '../../../src/model/index.ts';
import type { VerifiedEvent } from '../../../src/nostr/index.ts';
import { openSqlite, sql, SUPERVISOR_SCHEMA } from '../../../src/store/index.ts';
import type { Store } from '../../../src/store/index.ts';
import { temporaryDirectory } from '../../setup/temp.ts';
import { evenRandom, TestClock, until } from '../upstream/clock.ts';
import { agent, authEvent, relayKey, sign } from '../upstream/events.ts';
import { Shelf, TestRelay } from '../upstream/relay.ts';
import type { Connection, Manner } from '../upstream/relay.ts';

export const A = channelId('11111111-1111-4111-8111-111111111111');
export const B = channelId('22222222-2222-4222-8222-222222222222');

export const members = (channel: ChannelId, atSec: number, pubkeys: readonly string[] = [agent.pubkey]): VerifiedEvent =>
  sign(relayKey, { kind: 39_002, created_at: seconds(atSec), tags: [['d', channel], ...pubkeys.map((pubkey) => ['p', pubkey])] });
export const notice = (kind: 44_100 | 44_101, channel: ChannelId, atSec: number): VerifiedEvent =>
  sign(relayKey, { kind, created_at: seconds(atSec), tags: [['p', agent.pubkey], ['h', channel]] });

/** One data directory, one relay, and the agent started and stopped on them. */
export class World {
  readonly clock = new TestClock();
  readonly shelf: Shelf;
  readonly items: FeedItem[] = [];
  readonly errors: string[] = [];
  readonly relay: TestRelay;
  readonly store: Store = openSqlite(join(temporaryDirectory(), 'skep.db'), SUPERVISOR_SCHEMA);
  upstream: Upstream | undefined;
  feed: Feed | undefined;
  #connections = 0;

  private constructor(relay: TestRelay, shelf: Shelf) {
    this.relay = relay;
    this.shelf = shelf;
  }

  static async open(manner?: (shelf: Shelf) => Manner): Promise<World> {
    const shelf = new Shelf();
    const world = new World(await TestRelay.open(manner?.(shelf) ?? shelf.manner), shelf);
    worlds.push(world);
    return world;
  }

  get nowSec(): number {
    return this.clock.nowSec;
  }

  get log(): Log {
    return { ...silentLog, error: (message) => this.errors.push(message), warn: (message) => this.errors.push(message) };
  }

  /** The agent starts: `take` is its consumer. Ready when it has asked the relay. */
  async start(options: Partial<FeedOptions['identity']> & {
    readonly take?: (item: FeedItem) => Promise<void>; readonly store?: FeedOptions['store'];
    readonly relaySelf?: FeedOptions['relaySelf'];
  } = {}): Promise<void> {
    const { take = async () => {}, store = this.store, relaySelf = async () => undefined, ...identity } = options;
    const { clock } = this;
    this.upstream = openUpstream({
      url: this.relay.url, pubkey: agent.pubkey, signAuth: authEvent, clock, random: evenRandom, log: silentLog,
    });
    this.feed = openFeed({
      upstream: this.upstream, identity: { pubkey: agent.pubkey, subscribe: 'mentions', ...identity }, store, clock, log: this.log, relaySelf,
    });
    this.feed.follow(async (item) => {
      this.items.push(item);
      await take(item);
    });
    await this.reconnected();
  }

  async reconnected(): Promise<Connection> {
    this.#connections += 1;
    const connection = await this.relay.connection(this.#connections);
    await until(() => this.upstream?.phase() === 'authenticating');
    this.clock.advance(250);
    return connection;
  }

  get connection(): Connection {
    const connection = this.relay.connections[this.#connections - 1];
    if (connection === undefined) throw new Error('no connection');
    return connection;
  }

  /** The relay has answered the last REQ of this subscription and the agent has read it. */
  async asked(id: string, count = 1): Promise<Record<string, unknown>> {
    const [, , filter] = await this.connection.got('REQ', id, count);
    return filter as Record<string, unknown>;
  }

  async stop(): Promise<void> {
    await Promise.all([this.feed?.close(), this.feed?.close()]);
    await this.upstream?.close();
    this.feed = undefined;
    this.upstream = undefined;
  }

  /** What the next process would find after this one was killed. */
  async rows(): Promise<readonly unknown[]> {
    const rows = await this.store.read(sql('SELECT channel, floor_sec, seen_sec FROM resume WHERE agent = ? ORDER BY channel', agent.pubkey));
    return rows.map((row) => [row['channel'], row['floor_sec'], row['seen_sec']]);
  }

  /** The ids of channel A's history, as they are on disk; undefined before its first catch-up is whole. */
  async passedOver(): Promise<readonly unknown[] | undefined> {
    const [row] = await this.store.read(sql('SELECT passed_over FROM resume WHERE agent = ? AND channel = ?', agent.pubkey, A));
    return typeof row?.['passed_over'] === 'string' ? JSON.parse(row['passed_over']) as readonly unknown[] : undefined;
  }

  get events(): readonly string[] {
    return this.items.flatMap((item) => (item.type === 'event' ? [item.event.content] : []));
  }

  get ids(): readonly string[] {
    return this.items.flatMap((item) => (item.type === 'event' ? [item.event.id] : []));
  }

  /** Everything in short: `+` joined, `-` left, else the content. */
  get story(): readonly string[] {
    return this.items.map((item) => {
      const name = item.channelId === A ? 'A' : 'B';
      return item.type === 'event' ? item.event.content : `${item.type === 'joined' ? '+' : '-'}${name}`;
    });
  }
}

const worlds: World[] = [];

/** To be handed to `afterEach` by each test file: a module's own hooks belong to the file that loads it first. */
export async function closeWorlds(): Promise<void> {
  for (const world of worlds.splice(0)) {
    await world.stop();
    expect(world.clock.armed).toBe(0);
    await world.relay.close();
    await world.store.close();
  }
}
