/** The feed against a relay played by the test and a real database: channels, floors, positions, order. */
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openFeed } from '../../../src/broker/feed/index.ts';
import type { Feed, FeedOptions } from '../../../src/broker/feed/index.ts';
import type { FeedItem } from '../../../src/broker/ports.ts';
import { openUpstream } from '../../../src/broker/upstream/index.ts';
import type { Upstream } from '../../../src/broker/upstream/index.ts';
import { channelId, Failure, seconds, silentLog } from '../../../src/model/index.ts';
import type { ChannelId, Log } from '../../../src/model/index.ts';
import type { VerifiedEvent } from '../../../src/nostr/index.ts';
import { openSqlite, sql, SUPERVISOR_SCHEMA } from '../../../src/store/index.ts';
import type { Statement, Store } from '../../../src/store/index.ts';
import { temporaryDirectory } from '../../setup/temp.ts';
import { evenRandom, TestClock, until } from '../upstream/clock.ts';
import { agent, authEvent, author, mention, relayKey, sign } from '../upstream/events.ts';
import { Shelf, TestRelay } from '../upstream/relay.ts';
import type { Connection, Manner } from '../upstream/relay.ts';

const A = channelId('11111111-1111-4111-8111-111111111111');
const B = channelId('22222222-2222-4222-8222-222222222222');

const members = (channel: ChannelId, atSec: number, pubkeys: readonly string[] = [agent.pubkey]): VerifiedEvent =>
  sign(relayKey, { kind: 39_002, created_at: seconds(atSec), tags: [['d', channel], ...pubkeys.map((pubkey) => ['p', pubkey])] });
const notice = (kind: 44_100 | 44_101, channel: ChannelId, atSec: number): VerifiedEvent =>
  sign(relayKey, { kind, created_at: seconds(atSec), tags: [['p', agent.pubkey], ['h', channel]] });

/** One data directory, one relay, and the agent started and stopped on them. */
class World {
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
  } = {}): Promise<void> {
    const { take = async () => {}, store = this.store, ...identity } = options;
    const { clock } = this;
    this.upstream = openUpstream({
      url: this.relay.url, pubkey: agent.pubkey, signAuth: authEvent, clock, random: evenRandom, log: silentLog,
    });
    this.feed = openFeed({ upstream: this.upstream, identity: { pubkey: agent.pubkey, subscribe: 'mentions', ...identity }, store, clock, log: this.log });
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

afterEach(async () => {
  for (const world of worlds.splice(0)) {
    await world.stop();
    expect(world.clock.armed).toBe(0);
    await world.relay.close();
    await world.store.close();
  }
});

describe('finding channels', () => {
  it('asks for member lists and notices apart, then follows what lists us, joined before its events', async () => {
    const world = await World.open();
    const start = world.nowSec - 60;
    world.shelf.keep(members(A, 1_000));
    world.shelf.keep(members(B, 1_000, [author.pubkey]));
    world.shelf.keep(mention(A, 'now', world.nowSec));
    await world.start();
    expect(await world.asked('members')).toEqual({ kinds: [39_002], '#p': [agent.pubkey] });
    expect(await world.asked('membership-notif')).toEqual({ kinds: [44_100, 44_101], '#p': [agent.pubkey], since: start - 900 });
    expect(await world.asked(`ch-${A}`)).toEqual({ kinds: [9], '#h': [A], '#p': [agent.pubkey], since: start - 900 });
    await until(() => world.items.length === 2);
    expect(world.story).toEqual(['+A', 'now']);
    expect(world.feed?.channels()).toEqual([A]);
  });

  it('follows configured channels at once, on a relay that knows no groups, and asks for all messages where it shall', async () => {
    const world = await World.open();
    await world.start({ channels: [A, B], subscribe: 'all' });
    expect(await world.asked(`ch-${A}`)).toEqual({ kinds: [9], '#h': [A], since: world.nowSec - 960 });
    await world.asked(`ch-${B}`);
    world.shelf.put(mention(B, 'hello', world.nowSec));
    await until(() => world.items.length === 3);
    expect(world.story).toEqual(['+A', '+B', 'hello']);
    expect(world.connection.all('REQ', 'members')).toEqual([]);
    // A removal changes nothing; being added asks again.
    world.shelf.put(notice(44_101, A, world.nowSec + 1));
    world.shelf.put(notice(44_100, A, world.nowSec + 2));
    await world.asked(`ch-${A}`, 2);
    expect(world.feed?.channels()).toEqual([A, B]);
  });

  it('joins and leaves as the relay says, without events after leaving', async () => {
    const world = await World.open();
    await world.start();
    await world.asked('membership-notif');
    world.shelf.put(notice(44_100, A, world.nowSec));
    await world.asked(`ch-${A}`);
    world.shelf.put(mention(A, 'one', world.nowSec));
    await until(() => world.items.length === 2);
    world.shelf.put(members(B, world.nowSec));
    await world.asked(`ch-${B}`);
    world.shelf.put(notice(44_101, A, world.nowSec + 1));
    await until(() => world.story.includes('-A'));
    expect(await world.connection.got('CLOSE')).toEqual(['CLOSE', `ch-${A}`]);
    world.shelf.put(mention(A, 'after leaving', world.nowSec + 2));
    world.shelf.put(mention(B, 'two', world.nowSec));
    await until(() => world.story.includes('two'));
    expect(world.story).toEqual(['+A', 'one', '+B', '-A', 'two']);
    expect(world.feed?.channels()).toEqual([B]);
  });

  it('leaves when a newer list names us no longer', async () => {
    const world = await World.open();
    world.shelf.keep(members(A, 1_000));
    await world.start();
    await world.asked(`ch-${A}`);
    await world.asked('members', 2);
    world.shelf.put(members(A, 2_000, [author.pubkey]));
    await until(() => world.story.includes('-A'));
    world.shelf.put(notice(44_100, A, world.nowSec));
    await world.asked(`ch-${A}`, 2);
    await until(() => world.items.length === 3);
    expect(world.story).toEqual(['+A', '-A', '+A']);
  });

  it('goes on after 5 s when one of the two answers never comes', async () => {
    const world = await World.open(({ manner }) => (connection, message) => {
      if (message[1] !== 'membership-notif') manner(connection, message);
    });
    world.shelf.keep(members(A, 1_000));
    await world.start();
    await world.asked('members');
    await world.asked('membership-notif');
    await until(() => world.clock.armed > 1);
    world.clock.advance(4_999);
    expect(world.connection.all('REQ', `ch-${A}`)).toEqual([]);
    world.clock.advance(1);
    await world.asked(`ch-${A}`);
  });
});

describe('floors and positions', () => {
  it('begins a minute before the very first start: older stored events are history, live ones are not', async () => {
    const world = await World.open();
    world.shelf.keep(members(A, 1_000));
    world.shelf.keep(mention(A, 'history', world.nowSec - 61));
    world.shelf.keep(mention(A, 'just before', world.nowSec - 60));
    await world.start();
    await until(() => world.items.length === 2);
    world.shelf.put(mention(A, '14 minutes behind', world.nowSec - 840));
    await until(() => world.items.length === 3);
    expect(world.story).toEqual(['+A', 'just before', '14 minutes behind']);
    expect(await world.rows()).toEqual([['*', world.nowSec - 60, world.nowSec - 60], [A, world.nowSec - 60, world.nowSec - 60]]);
  });

  it('answers what was said while it was down, oldest first, from the read position back by 15 minutes', async () => {
    const world = await World.open();
    const first = world.nowSec;
    world.shelf.keep(members(A, 1_000));
    await world.start();
    await world.asked(`ch-${A}`);
    world.shelf.put(mention(A, 'read', first));
    await until(() => world.events.length === 1);
    await world.stop();
    expect(await world.rows()).toEqual([['*', first - 60, first], [A, first - 60, first]]);
    world.items.length = 0;
    world.clock.advance(7_200_000);
    // The author of one is 14 minutes behind.
    for (const [content, atSec] of [['1', first - 840], ['3', first + 1_000], ['2', first + 10], ['5', first + 7_000], ['4', first + 2_000]] as const) {
      world.shelf.keep(mention(A, content, atSec));
    }
    // Before the floor: never.
    world.shelf.keep(mention(A, 'history', first - 61));
    await world.start();
    expect(await world.asked(`ch-${A}`)).toMatchObject({ since: first - 900 });
    await until(() => world.events.length === 5);
    // One before the floor is history even when its author's clock is behind; it would be live had we been there.
    expect(world.events).toEqual(['read', '2', '3', '4', '5']);
    await until(() => world.clock.armed > 0);
    await world.stop();
    expect(await world.rows()).toEqual([['*', first - 60, first + 7_000], [A, first - 60, first + 7_000]]);
  });

  it('gives a channel joined while running its joining as floor, less what clocks may differ', async () => {
    const world = await World.open();
    await world.start();
    await world.asked('membership-notif');
    const joined = world.nowSec + 100;
    world.shelf.keep(mention(A, 'long before', joined - 901));
    world.shelf.keep(mention(A, '14 minutes behind', joined - 840));
    world.shelf.put(notice(44_100, A, joined));
    expect(await world.asked(`ch-${A}`)).toMatchObject({ since: joined - 1_800 });
    await until(() => world.events.length === 1);
    expect(world.events).toEqual(['14 minutes behind']);
    expect(await world.rows()).toContainEqual([A, joined - 900, joined - 900]);
  });

  it.each(['with a notice', 'without a notice'])('treats a channel joined while it was down as joined, %s', async (how) => {
    const world = await World.open();
    const first = world.nowSec;
    await world.start({ subscribe: 'all' });
    await world.asked('membership-notif');
    world.shelf.put(notice(44_100, B, first));
    await world.asked(`ch-${B}`);
    world.shelf.put(mention(B, 'read', first + 0));
    await until(() => world.events.length === 1);
    await world.stop();
    world.clock.advance(86_400_000);
    const joined = first + 40_000;
    world.shelf.keep(members(A, joined + 5));
    if (how === 'with a notice') world.shelf.keep(notice(44_100, A, joined));
    world.shelf.keep(mention(A, 'between', first + 20_000));
    world.shelf.keep(mention(A, 'mine', joined + 1));
    world.items.length = 0;
    await world.start({ subscribe: 'all' });
    const floor = how === 'with a notice' ? joined - 900 : first;
    expect(await world.asked(`ch-${A}`)).toMatchObject({ since: floor - 900 });
    await until(() => world.events.includes('mine'));
    expect(world.events.includes('between')).toBe(how === 'without a notice');
  });

  it('begins anew in a channel it left and joined again', async () => {
    const world = await World.open();
    await world.start();
    await world.asked('membership-notif');
    const first = world.nowSec;
    world.shelf.put(notice(44_100, A, first));
    await world.asked(`ch-${A}`);
    world.shelf.put(notice(44_101, A, first + 1));
    await until(() => world.story.includes('-A'));
    world.shelf.keep(mention(A, 'without us', first + 2_000));
    world.shelf.put(notice(44_100, A, first + 5_000));
    expect(await world.asked(`ch-${A}`, 2)).toMatchObject({ since: first + 5_000 - 1_800 });
    await until(() => world.items.length === 3);
    expect(await world.rows()).toContainEqual([A, first + 4_100, first + 4_100]);
  });

  it('lets no stamp from the future close the window', async () => {
    const world = await World.open();
    await world.start({ channels: [A] });
    await world.asked(`ch-${A}`);
    const before = world.clock.armed;
    world.shelf.put(mention(A, 'future', world.nowSec + 100_000));
    await until(() => world.clock.armed > before);
    await world.stop();
    expect(await world.rows()).toContainEqual([A, world.nowSec - 60, world.nowSec]);
  });

  it('writes positions at most every 3 s, and not before the consumer has taken the event', async () => {
    const world = await World.open();
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => { release = resolve; });
    await world.start({ channels: [A], take: (item) => (item.type === 'event' ? gate : Promise.resolve()) });
    const floor = world.nowSec - 60;
    await world.asked(`ch-${A}`);
    world.shelf.put(mention(A, 'x', world.nowSec));
    await until(() => world.events.length === 1);
    world.clock.advance(10_000);
    expect(await world.rows()).toContainEqual([A, floor, floor]);
    const armed = world.clock.armed;
    release();
    await until(() => world.clock.armed > armed);
    world.clock.advance(2_999);
    expect(await world.rows()).toContainEqual([A, floor, floor]);
    world.clock.advance(1);
    // The write was queued before this one.
    await world.store.write();
    expect(await world.rows()).toContainEqual([A, floor, floor + 60]);
  });

  it('does not move its position to a stored event while older ones may be on their way', async () => {
    const { nowSec } = new TestClock();
    const world = await World.open(({ manner }) => (connection, message) => {
      // The newest only, and no EOSE: the connection breaks off there.
      if (message[0] === 'REQ' && message[1] === `ch-${A}`) connection.send('EVENT', message[1], mention(A, 'newest', nowSec));
      else manner(connection, message);
    });
    world.shelf.keep(members(A, 1_000));
    await world.start();
    await world.asked(`ch-${A}`);
    const floor = world.nowSec - 60;
    await until(() => world.clock.armed > 1);
    expect(world.events).toEqual([]);
    // It waits for EOSE no longer than 10 s.
    world.clock.advance(10_000);
    await until(() => world.events.length === 1);
    await world.stop();
    expect(await world.rows()).toContainEqual([A, floor, floor]);
  });

  it('goes on when a position cannot be written, and writes it later', async () => {
    const world = await World.open();
    let full = false;
    const store = {
      read: world.store.read.bind(world.store),
      write: async (...statements: readonly Statement[]) => {
        if (full) throw new Failure('storage_full', 'the disk is full');
        return world.store.write(...statements);
      },
    };
    await world.start({ channels: [A], store });
    await world.asked(`ch-${A}`);
    full = true;
    const before = world.clock.armed;
    world.shelf.put(mention(A, 'x', world.nowSec));
    await until(() => world.clock.armed > before);
    world.clock.advance(3_000);
    await until(() => world.errors.length === 1);
    expect(world.errors).toEqual(['feed: the read positions could not be written']);
    full = false;
    world.shelf.put(mention(A, 'y', world.nowSec));
    await until(() => world.events.length === 2);
    await world.stop();
    expect(await world.rows()).toContainEqual([A, world.nowSec - 63, world.nowSec]);
  });
});

describe('the consumer', () => {
  it('gets every mention after each of 20 drops, once by id', async () => {
    const world = await World.open();
    world.shelf.keep(members(A, 1_000));
    await world.start();
    await world.asked(`ch-${A}`);
    for (let drop = 1; drop <= 20; drop += 1) {
      world.connection.drop();
      await until(() => world.upstream?.phase() === 'waiting');
      world.shelf.keep(mention(A, `after drop ${drop}`, world.nowSec));
      world.clock.advance(30_000);
      await world.reconnected();
      await until(() => world.events.length >= drop);
    }
    const taken = world.ids;
    expect(new Set(taken).size).toBe(20);
    expect(world.events).toEqual(Array.from({ length: 20 }, (_, index) => `after drop ${index + 1}`));
    expect(world.story.filter((entry) => entry === '+A')).toHaveLength(1);
  });

  it('gets one item at a time, and those of one second in a fixed order', async () => {
    const world = await World.open();
    world.shelf.keep(members(A, 1_000));
    const same = ['a', 'b', 'c', 'd', 'e'].map((content) => mention(A, content, world.nowSec));
    same.forEach((event) => { world.shelf.keep(event); });
    let inHand = 0;
    let most = 0;
    await world.start({ take: async () => {
      inHand += 1;
      most = Math.max(most, inHand);
      await new Promise((resolve) => setImmediate(resolve));
      inHand -= 1;
    } });
    await until(() => world.events.length === 5);
    expect(most).toBe(1);
    expect(world.ids).toEqual(same.map(({ id }) => id).sort());
  });

  it('ends the feed, loudly, when it fails, and the event comes again at the next start', async () => {
    const world = await World.open();
    world.shelf.keep(members(A, 1_000));
    world.shelf.keep(mention(A, '1', world.nowSec - 2));
    world.shelf.keep(mention(A, '2', world.nowSec - 1));
    await world.start({ take: (item) => (item.type === 'event' ? Promise.reject(new Error('bug')) : Promise.resolve()) });
    await until(() => world.errors.length > 0);
    expect(world.errors).toEqual(["feed: the consumer failed; this agent's feed has ended"]);
    await until(() => world.connection.all('CLOSE').length === 3);
    expect([world.events, world.feed?.channels()]).toEqual([['1'], []]);
    await world.stop();
    world.items.length = 0;
    await world.start();
    await until(() => world.events.length === 2);
    expect(world.events).toEqual(['1', '2']);
  });

  it('is one', async () => {
    const world = await World.open();
    await world.start();
    expect(() => world.feed?.follow(async () => {})).toThrow('a feed has one consumer');
  });

  it('is waited for at close, but not for ever', async () => {
    const world = await World.open();
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => { release = resolve; });
    await world.start({ channels: [A], take: (item) => (item.type === 'event' ? gate : Promise.resolve()) });
    await world.asked(`ch-${A}`);
    world.shelf.put(mention(A, 'x', world.nowSec));
    await until(() => world.events.length === 1);
    let closed = false;
    const before = world.clock.armed;
    const closing = world.feed?.close().then(() => { closed = true; });
    await until(() => world.clock.armed > before);
    expect(closed).toBe(false);
    world.clock.advance(5_000);
    await closing;
    expect(closed).toBe(true);
    const floor = world.nowSec - 65;
    release();
    await gate;
    expect(await world.rows()).toContainEqual([A, floor, floor]);
  });

  it('hears that the positions could not be read, and nothing else', async () => {
    const world = await World.open();
    const store = { ...world.store, read: () => Promise.reject(new Failure('storage_failed', 'x')), write: world.store.write.bind(world.store) };
    await world.start({ channels: [A], store });
    await until(() => world.errors.length > 0);
    expect(world.errors).toEqual(["feed: the read positions could not be read; this agent's feed has ended"]);
    expect(world.connection.all('REQ')).toEqual([]);
  });
});
