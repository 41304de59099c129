/** Where a feed begins in a channel, how far it has read, and what of it is on disk. */
import { afterEach, describe, expect, it } from 'vitest';
import { Failure } from '../../../src/model/index.ts';
import type { Statement } from '../../../src/store/index.ts';
import { TestClock, until } from '../upstream/clock.ts';
import { mention } from '../upstream/events.ts';
import { A, B, closeWorlds, members, notice, World } from './world.ts';

afterEach(closeWorlds);

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

  it('begins there too in a channel joined just before the very first start', async () => {
    const world = await World.open();
    world.shelf.keep(members(A, world.nowSec - 300));
    world.shelf.keep(notice(44_100, A, world.nowSec - 300));
    world.shelf.keep(mention(A, 'history', world.nowSec - 200));
    world.shelf.keep(mention(A, 'now', world.nowSec));
    await world.start();
    await until(() => world.items.length === 2);
    expect(world.story).toEqual(['+A', 'now']);
  });

  it('answers what was said while it was down, oldest first, from the read position back by 15 minutes', async () => {
    const world = await World.open();
    const first = world.nowSec;
    world.shelf.keep(members(A, 1_000));
    world.shelf.keep(mention(A, 'history', first - 61));
    await world.start();
    await world.asked(`ch-${A}`);
    world.shelf.put(mention(A, 'read', first));
    await until(() => world.events.length === 1);
    await world.stop();
    expect(await world.rows()).toEqual([['*', first - 60, first], [A, first - 60, first]]);
    world.items.length = 0;
    world.clock.advance(7_200_000);
    // The author of one is 14 minutes behind, and so it stands before the floor.
    for (const [content, atSec] of [['1', first - 840], ['3', first + 1_000], ['2', first + 10], ['5', first + 7_000], ['4', first + 2_000]] as const) {
      world.shelf.keep(mention(A, content, atSec));
    }
    await world.start();
    expect(await world.asked(`ch-${A}`)).toMatchObject({ since: first - 900 });
    await until(() => world.events.length === 6);
    // What was there before its first start is history, and stays so.
    expect(world.events).toEqual(['1', 'read', '2', '3', '4', '5']);
    await until(() => world.clock.armed > 0);
    await world.stop();
    expect(await world.rows()).toEqual([['*', first - 60, first + 7_000], [A, first - 60, first + 7_000]]);
  });

  it('passes over history as long as its first catch-up is not whole', async () => {
    let breaksOff = true;
    const world = await World.open(({ manner }) => (connection, message) => {
      // No EOSE: what came may be the newest part of history only.
      if (breaksOff && message[0] === 'REQ' && message[1] === `ch-${A}`) connection.send('EVENT', message[1], mention(A, 'history 1', first - 61));
      else manner(connection, message);
    });
    const first = world.nowSec;
    world.shelf.keep(members(A, 1_000));
    world.shelf.keep(mention(A, 'history 1', first - 61));
    world.shelf.keep(mention(A, 'history 2', first - 62));
    await world.start();
    await world.asked(`ch-${A}`);
    await world.stop();
    breaksOff = false;
    for (const content of ['then', 'later']) {
      world.shelf.keep(mention(A, content, first));
      await world.start();
      await until(() => world.events.includes(content));
      await world.stop();
    }
    expect(world.events.filter((content) => content.startsWith('history'))).toEqual([]);
  });

  it('forgets what it passed over when nothing asks for it any more', async () => {
    const world = await World.open();
    const first = world.nowSec;
    world.shelf.keep(mention(A, 'history', first - 61));
    await world.start({ channels: [A] });
    await world.asked(`ch-${A}`);
    await until(async () => (await world.passedOver())?.length === 1);
    await world.stop();
    world.clock.advance(900_000);
    world.shelf.keep(mention(A, 'read', first + 840));
    await world.start({ channels: [A] });
    await until(() => world.events.length === 1);
    await world.stop();
    expect(await world.passedOver()).toEqual([]);
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
    expect(await world.rows()).toContainEqual([A, joined - 900, joined - 840]);
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
    // Stopped while they wait for order, stored events come at the next start.
    await world.start();
    await world.asked(`ch-${A}`);
    await until(() => world.clock.armed > 1);
    await world.stop();
    expect([world.events, world.clock.armed]).toEqual([['newest'], 0]);
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
    await until(async () => await world.passedOver() !== undefined);
    full = true;
    const before = world.clock.armed;
    world.shelf.put(mention(A, 'x', world.nowSec));
    await until(() => world.clock.armed > before);
    world.clock.advance(3_000);
    await until(() => world.errors.length === 1);
    expect(world.errors).toEqual(['feed: the read positions could not be written']);
    full = false;
    await world.stop();
    expect(await world.rows()).toContainEqual([A, world.nowSec - 63, world.nowSec - 3]);
  });
});
