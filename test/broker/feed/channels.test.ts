/** Which channels a feed follows, when it says so, and what it asks for. */
import { afterEach, describe, expect, it } from 'vitest';
import { seconds } from '../../../src/model/index.ts';
import type { VerifiedEvent } from '../../../src/nostr/index.ts';
import { until } from '../upstream/clock.ts';
import { agent, author, mention, relayKey, sign } from '../upstream/events.ts';
import { A, B, closeWorlds, members, notice, World } from './world.ts';

afterEach(closeWorlds);

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
    expect(await world.asked(`ch-${A}`)).toEqual({ kinds: [9, 40_007, 46_010], '#h': [A], '#p': [agent.pubkey], since: start - 900 });
    await until(() => world.items.length === 2);
    expect(world.story).toEqual(['+A', 'now']);
    expect(world.feed?.channels()).toEqual([A]);
  });

  it('believes what the relay says of membership from the relay\'s own key alone, where that is known', async () => {
    const world = await World.open();
    const forged = (kind: 44_100 | 39_002): VerifiedEvent =>
      sign(author, { kind, created_at: seconds(world.nowSec), tags: [['p', agent.pubkey], ['h', B], ['d', B]] });
    world.shelf.keep(forged(39_002));
    await world.start({ relaySelf: async () => relayKey.pubkey });
    await world.asked('membership-notif');
    world.shelf.put(forged(44_100));
    world.shelf.put(notice(44_100, A, world.nowSec));
    await until(() => world.items.length === 1);
    expect(world.feed?.channels()).toEqual([A]);
    expect(world.errors).toEqual(Array(2).fill('feed: a statement about membership that is not the relay\'s own'));
  });

  it('follows configured channels at once, on a relay that knows no groups, and asks for all messages where it shall', async () => {
    const world = await World.open();
    await world.start({ channels: [A, B], subscribe: 'all' });
    expect(await world.asked(`ch-${A}`)).toEqual({ kinds: [9, 40_007, 46_010], '#h': [A], since: world.nowSec - 960 });
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

  it('leaves a channel that is archived, and comes back when it is open again', async () => {
    const world = await World.open();
    const metadata = (atSec: number, ...more: readonly string[][]): VerifiedEvent =>
      sign(relayKey, { kind: 39_000, created_at: seconds(atSec), tags: [['d', A], ['name', 'garden'], ...more] });
    world.shelf.keep(members(A, 1_000));
    await world.start();
    await world.asked(`ch-${A}`);
    await world.asked('members', 2);
    world.shelf.put(metadata(world.nowSec, ['archived', 'true']));
    await until(() => world.story.includes('-A'));
    expect(world.feed?.channels()).toEqual([]);
    // It is a member all the same: what it may read and say there is the relay's to decide.
    expect(world.feed?.isMember(A)).toBe(true);
    world.shelf.put(metadata(world.nowSec + 5));
    await until(() => world.story.length === 3);
    expect(world.story).toEqual(['+A', '-A', '+A']);
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

  it.each([
    ['a notice', () => notice(44_101, A, 1_800_000_000)],
    ['a newer list without us', () => members(A, 2_000, [author.pubkey])],
  ])('tells of a channel that was left while it was down, by %s, until it is taken', async (_, evidence) => {
    const world = await World.open();
    world.shelf.keep(members(A, 1_000));
    world.shelf.keep(members(B, 1_000));
    await world.start();
    await world.asked(`ch-${A}`);
    await world.asked(`ch-${B}`);
    await world.stop();
    // A newer list replaces the older one.
    world.shelf.events.shift();
    world.shelf.keep(evidence());
    world.shelf.keep(mention(A, 'without us', world.nowSec));
    world.items.length = 0;
    // Not taken: the next run must tell it again.
    let down = (): void => {};
    const killed = new Promise<void>((resolve) => { down = resolve; });
    await world.start({ take: (item) => (item.type === 'left' ? killed.then(() => Promise.reject(new Error('down'))) : Promise.resolve()) });
    await until(() => world.story.includes('-A'));
    down();
    await world.stop();
    world.items.length = 0;
    await world.start();
    await until(() => world.items.length >= 2);
    expect([...world.story].sort()).toEqual(['+B', '-A']);
    await world.stop();
    expect(await world.rows()).toEqual([['*', expect.anything(), expect.anything()], [B, expect.anything(), expect.anything()]]);
    world.items.length = 0;
    await world.start();
    await world.asked(`ch-${B}`);
    expect(world.story).toEqual(['+B']);
    expect(world.feed?.channels()).toEqual([B]);
  });

  it('knows its membership when the first answers are complete, and what changes it', async () => {
    const world = await World.open();
    world.shelf.keep(members(A, 1_000));
    await world.start();
    expect(world.feed?.isMember(A)).toBeUndefined();
    await world.asked(`ch-${A}`);
    expect([A, B].map((channel) => world.feed?.isMember(channel))).toEqual([true, false]);
    world.shelf.put(notice(44_101, A, world.nowSec));
    await until(() => world.story.includes('-A'));
    expect(world.feed?.isMember(A)).toBe(false);
    world.shelf.put(notice(44_100, A, world.nowSec + 1));
    await world.asked(`ch-${A}`, 2);
    expect(world.feed?.isMember(A)).toBe(true);
  });

  it('knows of configured channels what the notices say', async () => {
    const world = await World.open();
    await world.start({ channels: [A, B] });
    await world.asked('membership-notif');
    world.shelf.put(notice(44_101, A, world.nowSec));
    await until(() => world.feed?.isMember(A) === false);
    expect(world.feed?.isMember(B)).toBeUndefined();
    world.shelf.put(notice(44_100, A, world.nowSec));
    await until(() => world.feed?.isMember(A) === true);
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
    expect([A, B].map((channel) => world.feed?.isMember(channel))).toEqual([true, false]);
  });

  it('takes no channel for another\'s while the member lists are missing', async () => {
    const world = await World.open(({ manner }) => (connection, message) => {
      if (message[1] !== 'members') manner(connection, message);
    });
    world.shelf.keep(notice(44_100, A, world.nowSec));
    await world.start();
    await world.asked('membership-notif');
    await until(() => world.clock.armed > 1);
    world.clock.advance(5_000);
    await world.asked(`ch-${A}`);
    expect([A, B].map((channel) => world.feed?.isMember(channel))).toEqual([true, undefined]);
  });

  it('can be stopped while it finds them', async () => {
    const world = await World.open(({ manner }) => (connection, message) => {
      if (message[1] !== 'membership-notif') manner(connection, message);
    });
    await world.start();
    await until(() => world.clock.armed > 1);
    await world.stop();
    expect(world.clock.armed).toBe(0);
  });
});
