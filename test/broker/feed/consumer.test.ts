/** What the one consumer of a feed is given, and what its failures and its slowness do. */
import { afterEach, describe, expect, it } from 'vitest';
import { Line } from '../../../src/broker/feed/line.ts';
import { Failure } from '../../../src/model/index.ts';
import type { Statement } from '../../../src/store/index.ts';
import { until } from '../upstream/clock.ts';
import { mention } from '../upstream/events.ts';
import { A, B, closeWorlds, members, World } from './world.ts';

afterEach(closeWorlds);

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

  it('hears nothing of a channel whose beginning is being written when the feed is closed', async () => {
    const world = await World.open();
    let writes = 0;
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => { release = resolve; });
    const store = {
      read: world.store.read.bind(world.store),
      write: async (...statements: readonly Statement[]) => {
        writes += 1;
        if (writes === 2) await gate;
        return world.store.write(...statements);
      },
    };
    await world.start({ channels: [A], store });
    await until(() => writes === 2);
    const stopping = world.stop();
    release();
    await stopping;
    expect(world.story).toEqual([]);
    expect(await world.rows()).toHaveLength(2);
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

describe('Line', () => {
  it('hands nothing over after a failure, though it waited before', async () => {
    const taken: string[] = [];
    const failures: unknown[] = [];
    const line = new Line(async ({ channelId, type }) => {
      taken.push(`${type} ${channelId}`);
      if (channelId === B) throw new Error('bug');
    }, (error) => failures.push(error));
    const pushed = [line.push({ type: 'joined', channelId: A }), line.push({ type: 'joined', channelId: B }), line.push({ type: 'left', channelId: A })];
    expect(await Promise.all(pushed)).toEqual([true, false, false]);
    expect(taken).toEqual([`joined ${A}`, `joined ${B}`]);
    expect(failures).toEqual([new Error('bug')]);
    await line.end();
  });
});
