/** `channel.read`: what belongs to a page, the order, the continuation, the cursor. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CURSOR_LIFETIME_MS } from '../../../src/broker/actions/cursor.ts';
import { openCursors } from '../../../src/broker/actions/index.ts';
import { openKeyring } from '../../../src/broker/keyring.ts';
import type { Tag } from '../../../src/nostr/index.ts';
import { systemRandom } from '../../../src/system/index.ts';
import { AGENT, CHANNEL, ELSEWHERE, OWNER, SIBLING, START_SEC, STRANGER } from '../people.ts';
import { bench, idsOf, read, readAll } from './harness.ts';

const H: Tag = ['h', CHANNEL];

function message(content: string, createdAtSec = START_SEC, tags: readonly Tag[] = []) {
  return STRANGER.sign({ tags: [H, ...tags], content, createdAtSec });
}

/** Ten messages in each of three seconds. */
const CROWD = Array.from({ length: 30 }, (_, index) => message(`m${index}`, START_SEC - (index % 3)));

describe('a page', () => {
  it('holds the original events, newest first, the lower id first in one second', async () => {
    const { relay, context } = bench();
    relay.keep(...CROWD);
    expect(await read(context)).toEqual({ ids: idsOf(CROWD) });
  });

  it('of an empty channel is empty and the last', async () => {
    expect(await read(bench().context)).toEqual({ ids: [] });
  });

  it('holds messages of that channel alone', async () => {
    const { relay, context } = bench();
    const own = message('here');
    relay.keep(
      own,
      STRANGER.sign({ tags: [['h', ELSEWHERE]], content: 'elsewhere' }),
      STRANGER.sign({ tags: [['h', ELSEWHERE], H], content: 'in two' }),
      STRANGER.sign({ tags: [H], content: 'edited', kind: 40_003 }),
      STRANGER.sign({ tags: [H], content: 'v2', kind: 40_002 }),
    );
    expect(await read(context)).toEqual({ ids: [own.id] });
  });

  it('of a thread holds its root and what answers below it, by the signed markers', async () => {
    const { relay, context } = bench();
    const root = message('root', START_SEC - 100);
    const reply = message('reply', START_SEC - 90, [['e', root.id, '', 'reply']]);
    const nested = message('nested', START_SEC - 80, [
      ['e', root.id, '', 'root'],
      ['e', reply.id, '', 'reply'],
    ]);
    const quoted = message('quoted', START_SEC - 70, [['e', root.id]]);
    const other = message('other', START_SEC - 60, [
      ['e', nested.id, '', 'root'],
      ['e', root.id, '', 'reply'],
    ]);
    relay.keep(root, reply, nested, quoted, other, message('top'));
    expect(await read(context, { rootEventId: root.id })).toEqual({ ids: [nested.id, reply.id, root.id] });
    expect(await read(context, { rootEventId: other.id })).toEqual({ ids: [other.id] });
  });

  it('of mentions holds what names the agent', async () => {
    const { relay, context } = bench();
    const named = message('you', START_SEC, [
      ['p', OWNER.pubkey],
      ['p', AGENT.pubkey],
    ]);
    relay.keep(named, message('them', START_SEC, [['p', SIBLING.pubkey]]), message('nobody'));
    expect(await read(context, { mentionsOnly: true })).toEqual({ ids: [named.id] });
    expect(await read(context, { mentionsOnly: false })).toMatchObject({ ids: { length: 3 } });
  });

  it('meets all filters at once', async () => {
    const { relay, context } = bench();
    const root = message('root', START_SEC - 9);
    const both = message('both', START_SEC, [
      ['e', root.id, '', 'reply'],
      ['p', AGENT.pubkey],
    ]);
    relay.keep(
      root,
      both,
      message('thread', START_SEC, [['e', root.id, '', 'reply']]),
      message('mention', START_SEC, [['p', AGENT.pubkey]]),
    );
    expect(await read(context, { rootEventId: root.id, mentionsOnly: true })).toEqual({ ids: [both.id] });
  });

  it('is an error when the relay does not answer, never an empty page', async () => {
    const { relay, context } = bench();
    relay.keep(...CROWD);
    relay.readable = false;
    expect(await read(context)).toBe('internal');
  });

  it('holds 100 messages unless asked otherwise, and goes on', async () => {
    const { relay, context } = bench();
    relay.keep(...Array.from({ length: 101 }, (_, index) => message(`m${index}`, START_SEC - index)));
    const [first, second, ...more] = await readAll(context, {});
    expect([first?.ids.length, second?.ids.length, more.length]).toEqual([100, 1, 0]);
  });

  it.each([['one byte', 'x'.repeat(65_000)], ['three bytes', '長'.repeat(21_667)]])('of characters of %s ends early when it grows too large, and goes on', async (_, text) => {
    const { relay, context } = bench();
    const large = Array.from({ length: 80 }, (__, index) => message(text + String(index), START_SEC - index));
    relay.keep(...large);
    const pages = await readAll(context, {});
    expect(pages.length).toBe(2);
    expect(pages.flatMap(({ ids }) => ids)).toEqual(idsOf(large));
  });
});

describe('a traversal', () => {
  it('brings every message once and in order, whatever share one second', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(4), { maxLength: 40 }),
        fc.integer({ min: 1, max: 7 }),
        fc.boolean(),
        fc.constantFrom(3, 30, 10_000),
        async (ages, limit, inThread, maxLimit) => {
          const { relay, context } = bench();
          const root = message('root', START_SEC - 3);
          const events = ages.map((age, index) =>
            message(`${index}`, START_SEC - age, index % 2 === 0 ? [['e', root.id, '', 'reply']] : []),
          );
          relay.keep(root, ...events);
          // A relay that serves fewer at once than share a second cannot be read beyond it: that is a stated limit.
          const crowded = Math.max(...[0, 1, 2, 3, 4].map((age) => ages.filter((each) => each === age).length)) + 1;
          relay.maxLimit = Math.max(maxLimit, crowded + 1);
          const wanted = inThread ? [root, ...events.filter((_, index) => index % 2 === 0)] : [root, ...events];
          const pages = await readAll(context, { limit, ...(inThread ? { rootEventId: root.id } : {}) });
          expect(pages.flatMap(({ ids }) => ids)).toEqual(idsOf(wanted));
          expect(pages.every(({ ids }) => ids.length <= limit)).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('of a thread skips nothing between what a relay serves at once and the old root', async () => {
    const { relay, context } = bench();
    const root = message('root', START_SEC - 1_000);
    const replies = Array.from({ length: 40 }, (_, index) =>
      message(`r${index}`, START_SEC - index, [['e', root.id, '', 'reply']]),
    );
    relay.keep(root, ...replies);
    relay.maxLimit = 10;
    const pages = await readAll(context, { rootEventId: root.id });
    expect(pages.flatMap(({ ids }) => ids)).toEqual(idsOf([...replies, root]));
  });

  it('of a thread skips nothing of a second that holds more than a page, before the older root', async () => {
    const { relay, context } = bench();
    const root = message('root', START_SEC - 1);
    const replies = Array.from({ length: 90 }, (_, index) =>
      message(`r${index}`, START_SEC, [['e', root.id, '', 'reply']]),
    );
    relay.keep(root, ...replies);
    const pages = await readAll(context, { rootEventId: root.id, limit: 4 });
    expect(pages.flatMap(({ ids }) => ids)).toEqual(idsOf([...replies, root]));
  });

  it('asks deeper when one second holds more than a page', async () => {
    const { relay, context } = bench();
    const second = Array.from({ length: 90 }, (_, index) => message(`m${index}`));
    relay.keep(...second, message('older', START_SEC - 1));
    const pages = await readAll(context, { limit: 10 });
    expect(pages.flatMap(({ ids }) => ids)).toEqual([...idsOf(second), message('older', START_SEC - 1).id]);
  });
});

describe('a cursor', () => {
  async function firstCursor(made: ReturnType<typeof bench>, args: Parameters<typeof read>[1] = {}): Promise<string> {
    made.relay.keep(
      ...CROWD,
      ...CROWD.map(({ id }) =>
        message('named', START_SEC - 50, [
          ['p', AGENT.pubkey],
          ['e', id, '', 'reply'],
        ]),
      ),
    );
    const page = await read(made.context, { limit: 2, ...args });
    return typeof page === 'string' || page.nextCursor === undefined ? expect.fail('no cursor') : page.nextCursor;
  }

  it('fits the wire and tells nothing', async () => {
    const cursor = await firstCursor(bench());
    expect(cursor).toMatch(/^[\x21-\x7e]{1,256}$/);
    expect(cursor).not.toContain(CHANNEL);
  });

  it('is good for an hour', async () => {
    const made = bench();
    const cursor = await firstCursor(made);
    made.clock.push(CURSOR_LIFETIME_MS);
    expect(await read(made.context, { cursor })).toMatchObject({ ids: { length: 58 } });
    made.clock.push(1);
    expect(await read(made.context, { cursor })).toBe('invalid_request');
  });

  it('is good for another limit, and for nothing else but its traversal', async () => {
    const made = bench();
    const { context } = made;
    const cursor = await firstCursor(made);
    const root = CROWD[0]?.id ?? expect.fail('no event');
    expect(await read(context, { cursor, limit: 500 })).toMatchObject({ ids: { length: 58 } });
    expect(await read(context, { cursor, channelId: ELSEWHERE })).toBe('invalid_request');
    expect(await read(context, { cursor, rootEventId: root })).toBe('invalid_request');
    expect(await read(context, { cursor, mentionsOnly: true })).toBe('invalid_request');
    expect(await read({ ...context, agent: SIBLING.pubkey }, { cursor })).toBe('invalid_request');
    expect(await read({ ...context, community: 'wss://other' }, { cursor })).toBe('invalid_request');
  });

  it('is good in the next run of the broker, as long as it holds the same key', async () => {
    const made = bench();
    const cursor = await firstCursor(made);
    const keyring = openKeyring([AGENT], systemRandom);
    const next = { ...made.context, cursors: openCursors({ clock: made.clock, keyring }) };
    expect(await read(next, { cursor })).toMatchObject({ ids: { length: 58 } });
    const other = { mark: () => new Uint8Array(32) };
    const foreign = { ...made.context, cursors: openCursors({ clock: made.clock, keyring: other }) };
    expect(await read(foreign, { cursor })).toBe('invalid_request');
  });

  it('does not live on when the clock is set back', async () => {
    const made = bench();
    const cursor = await firstCursor(made);
    made.clock.push(-CURSOR_LIFETIME_MS);
    expect(await read(made.context, { cursor })).toMatchObject({ ids: { length: 58 } });
    made.clock.push(-1);
    expect(await read(made.context, { cursor })).toBe('invalid_request');
  });

  it('is refused when it is anything but itself', async () => {
    const made = bench();
    const cursor = await firstCursor(made);
    const flipped = cursor.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
    for (const broken of [flipped, cursor.slice(1), `${cursor}=`, `${cursor}A`, '!', 'A'.repeat(cursor.length)]) {
      expect(await read(made.context, { cursor: broken }), broken).toBe('invalid_request');
    }
    expect(await read(made.context, { cursor })).toMatchObject({ ids: { length: 58 } });
  });
});
