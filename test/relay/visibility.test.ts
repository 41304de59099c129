/**
 * NIP-AP "Relay behavior", as a table: every kind with a gate, shared, unshared and malformed, on every surface one can
 * read by, asked by its author, by a stranger and by nobody. A kind that all may read is the control.
 */
import { describe, expect, it } from 'vitest';
import type { Tag, VerifiedEvent } from '../../src/nostr/index.ts';
import type { Relay } from '../../src/relay/index.ts';
import { alice, bob, carol, Client, startRelay } from './harness.ts';
import type { Person } from './harness.ts';
import { post } from './http.ts';

const WORD = 'bienenstock';
const VERSION = 'ab'.repeat(32);
const SHARED: Tag = ['shared', 'true'];
const now = Math.floor(Date.now() / 1000);

interface Case {
  readonly kind: number;
  readonly tags: readonly Tag[];
  readonly readers: 'all' | 'author' | 'nobody';
  readonly isSearched?: boolean;
}

const MALFORMED: readonly (readonly Tag[])[] = [
  [['shared']], [['shared', 'false']], [['shared', '']], [['shared', 'true', 'extra']], [SHARED, SHARED], [SHARED, ['shared']],
];
const GATED = [{ kind: 30_175, d: 'hive' }, { kind: 30_178, d: 'builtin-team:hive' }];

const CASES: readonly Case[] = [
  { kind: 30_078, tags: [['d', 'x']], readers: 'all' },
  { kind: 1, tags: [], readers: 'all', isSearched: true },
  ...GATED.flatMap(({ kind, d }): readonly Case[] => [
    { kind, tags: [['d', d], SHARED], readers: 'all', isSearched: true },
    { kind, tags: [['d', d]], readers: 'author', isSearched: true },
    // Stored globally: a channel that is named, if it is one at all, is none of theirs.
    ...[['h', '00000000-0000-4000-8000-000000000001'], ['h', 'x'], ['h']].flatMap((channel): readonly Case[] => [
      { kind, tags: [['d', d], SHARED, channel, channel], readers: 'all', isSearched: true },
      { kind, tags: [['d', d], channel], readers: 'author', isSearched: true },
    ]),
    ...MALFORMED.map((tags): Case => ({ kind, tags: [['d', d], ...tags], readers: 'nobody' })),
    ...[[], [['d']], [['d', '']], [['d'], ['d', d]], [['d', d], ['d', 'other']], [['d', 'a b']], [['d', 'a\u0085']], [['d', 'x'.repeat(65)]]]
      .map((tags): Case => ({ kind, tags: [...tags, SHARED], readers: 'nobody' })),
  ]),
  { kind: 30_175, tags: [['d', 'Team:x'], SHARED], readers: 'nobody' },
  ...[[['p', bob.pubkey]], [['t', 'Team:Ä']]].flatMap((tags): readonly Case[] => [
    { kind: 44_300, tags, readers: 'author' }, { kind: 44_300, tags: [...tags, SHARED], readers: 'author' },
  ]),
  ...[[], [['p']], [['t']], [['t', 'a b']], [['p', bob.pubkey.toUpperCase()]], [['p', bob.pubkey], ['t', 'x']], [['t', 'x'], ['t']],
    [['p', bob.pubkey, '']], [['t', 'x'], ['h', '00000000-0000-4000-8000-000000000001']]]
    .map((tags): Case => ({ kind: 44_300, tags, readers: 'nobody' })),
  ...[[], [SHARED]].flatMap((shared): readonly Case[] => [
    { kind: 5, tags: [['e', VERSION], ['k', '44300'], ...shared], readers: 'author' },
    { kind: 5, tags: [['a', `30300:${alice.pubkey}:x`], ...shared], readers: 'author' },
    ...[30_300, 30_350, 30_179].map((kind): Case => ({ kind, tags: [['d', 'x'], ...shared], readers: 'author' })),
  ]),
];

type Surface = (kind: number, event: VerifiedEvent) => Promise<unknown>;

/** What each surface shows of an event: the ids found, or how many. */
async function surfaces(relay: Relay, by: Person): Promise<Readonly<Record<string, Surface>>> {
  const client = await Client.as(by, relay);
  const count = async (filter: object): Promise<unknown> => {
    client.send(['COUNT', 'n', filter]);
    return (await client.next('COUNT', 'n'))[2];
  };
  const query = async (filter: object): Promise<unknown> => {
    const { body } = await post(relay, by, '/query', [filter]);
    return Array.isArray(body) ? body.map((each: { readonly id: string }) => each.id) : body;
  };
  const countOver = async (filter: object): Promise<unknown> => (await post(relay, by, '/count', [filter])).body;
  return {
    'REQ by kind': (kind) => client.stored('s', { kinds: [kind, 9] }),
    'REQ by author': (kind) => client.stored('s', { kinds: [kind], authors: [alice.pubkey], limit: 1 }),
    'REQ by id': (_, event) => client.stored('s', { ids: [event.id] }),
    'COUNT by kind': (kind) => count({ kinds: [kind] }),
    'COUNT by id': (_, event) => count({ ids: [event.id] }),
    'HTTP query by kind': (kind) => query({ kinds: [kind] }),
    'HTTP query by id': (_, event) => query({ ids: [event.id] }),
    'HTTP count by kind': (kind) => countOver({ kinds: [kind] }),
    'HTTP count by id': (_, event) => countOver({ ids: [event.id] }),
    'search': () => client.stored('s', { search: WORD }),
    'search counted': () => count({ search: WORD }),
    'search over HTTP': () => query({ search: WORD }),
    'search over HTTP counted': () => countOver({ search: WORD, kinds: [30_175, 30_178, 44_300, 5, 1] }),
  };
}

async function expectSeen(relay: Relay, by: Person, event: VerifiedEvent, isSeen: boolean, isSearched: boolean): Promise<void> {
  for (const [name, surface] of Object.entries(await surfaces(relay, by))) {
    const isFound = isSeen && (isSearched || !name.startsWith('search'));
    const shown = await surface(event.kind, event);
    expect([name, shown]).toEqual([name, Array.isArray(shown) ? (isFound ? [event.id] : []) : { count: isFound ? 1 : 0 }]);
  }
}

async function expectNothingForNobody(relay: Relay, event: VerifiedEvent): Promise<void> {
  const client = await Client.open(relay);
  for (const filter of [{ kinds: [event.kind] }, { ids: [event.id] }, { search: WORD }]) {
    for (const verb of ['REQ', 'COUNT']) {
      client.send([verb, 's', filter]);
      expect(await client.next('CLOSED', 's')).toEqual(['CLOSED', 's', 'auth-required: not authenticated']);
    }
    for (const path of ['/query', '/count']) expect(await post(relay, undefined, path, [filter])).toMatchObject({ status: 401 });
  }
  expect(client.seen('EVENT')).toEqual([]);
}

describe('of each kind, on each surface', () => {
  it.each(CASES.map((one) => [one.kind, JSON.stringify(one.tags).slice(0, 90), one] as const))('%i %s', async (_, __, one) => {
    const { kind, tags, readers, isSearched = false } = one;
    const relay = await startRelay();
    const author = await Client.as(alice, relay);
    const listeners = await Promise.all([alice, carol].map((by) => Client.as(by, relay)));
    const event = alice.sign(kind, tags, `sealed ${WORD}`);
    const fence = alice.sign(7, [['e', VERSION]], '+');
    for (const listener of listeners) await listener.stored('live', { kinds: [kind, 7] }, { ids: [event.id] });

    const [accepted, reason] = await author.publish(event);
    expect([accepted, readers === 'nobody' ? String(reason).split(':')[0] : reason])
      .toEqual(readers === 'nobody' ? [false, 'invalid'] : [true, '']);
    await author.publish(fence);
    for (const [index, listener] of listeners.entries()) {
      const isSeen = readers === 'all' || (readers === 'author' && index === 0);
      if (isSeen) expect((await listener.nextEvent('live')).id).toBe(event.id);
      expect((await listener.nextEvent('live')).id).toBe(fence.id);
    }
    await expectSeen(relay, alice, event, readers !== 'nobody', isSearched);
    await expectSeen(relay, carol, event, readers === 'all', isSearched);
    await expectNothingForNobody(relay, event);
  });
});

describe('before the limit', () => {
  it('newer private personas do not crowd out an older shared one', async () => {
    const relay = await startRelay();
    const [author, stranger] = [await Client.as(alice, relay), await Client.as(carol, relay)];
    const shared = alice.sign(30_175, [['d', 'shared'], SHARED], WORD, now - 100);
    const hidden = [1, 2, 3].map((age) => alice.sign(30_175, [['d', `hidden-${age}`]], WORD, now - age));
    for (const event of [shared, ...hidden]) await author.publish(event);
    for (const filter of [{ kinds: [30_175], limit: 1 }, { kinds: [30_175], authors: [alice.pubkey], limit: 1 }, { search: WORD, limit: 1 }]) {
      expect(await stranger.stored('s', filter)).toEqual([shared.id]);
      expect((await post(relay, carol, '/query', [filter])).body).toEqual([shared]);
      expect(await author.stored('s', filter)).toEqual([hidden[0]?.id]);
    }
  });

  it.each<[string, Tag, Tag, object]>([
    ['agent', ['p', bob.pubkey], ['p', carol.pubkey], { '#p': [bob.pubkey] }],
    ['team', ['t', 'Team'], ['t', 'team'], { '#t': ['Team'] }],
  ])('the current version of an %s is found behind newer ones of others, and its history is paged', async (_, subject, other, named) => {
    const relay = await startRelay();
    const author = await Client.as(alice, relay);
    const mine = Array.from({ length: 5 }, (__, index) => alice.sign(44_300, [subject], `v${index}`, now - 50));
    const newer = [1, 2, 3].map((age) => alice.sign(44_300, [other], 'other', now - age));
    for (const event of [...mine, ...newer]) await author.publish(event);
    const ids = mine.map(({ id }) => id).toSorted();
    const filter = { kinds: [44_300], authors: [alice.pubkey], ...named };
    expect(await author.stored('s', { ...filter, limit: 1 })).toEqual(ids.slice(0, 1));
    const pages = [{}, { until: now - 50, before_id: ids[1] }, { until: now - 50, before_id: ids[3] }, { until: now - 50, before_id: ids[4] }];
    for (const [index, page] of pages.entries()) {
      const expected = ids.slice(index * 2, index * 2 + 2);
      expect(await author.stored('s', { ...filter, limit: 2, ...page })).toEqual(expected);
      const { body } = await post(relay, alice, '/query', [{ ...filter, limit: 2, ...page }]);
      expect(body).toMatchObject(expected.map((id) => ({ id })));
    }
    for (const cursor of [{ before_id: ids[0] }, { until: now, before_id: 'ab' }, { until: now, before_id: null }, { until: now, before_id: 'g'.repeat(64) }]) {
      author.send(['REQ', 's', { ...filter, ...cursor }]);
      expect((await author.next('CLOSED', 's'))[2]).toMatch(/^invalid: before_id: /);
      expect(await post(relay, alice, '/query', [{ ...filter, ...cursor }])).toMatchObject({ status: 400 });
    }
  });
});

describe('a head', () => {
  it.each(GATED)('of kind $kind that is shared, unshared, deleted and written again is what its newest says', async ({ kind, d }) => {
    const relay = await startRelay();
    const [author, stranger] = [await Client.as(alice, relay), await Client.as(carol, relay)];
    const head = (age: number, ...tags: readonly Tag[]): VerifiedEvent => alice.sign(kind, [['d', d], ...tags], WORD, now - age);
    const [shared, unshared, again] = [head(50, SHARED), head(40), head(20, SHARED)];
    const seenBy = async (by: Person): Promise<unknown> => (await post(relay, by, '/query', [{ kinds: [kind] }])).body;
    const seen = async (): Promise<unknown> => [await seenBy(alice), await seenBy(carol)];
    await author.publish(shared);
    expect(await seen()).toEqual([[shared], [shared]]);
    await author.publish(unshared);
    expect(await seen()).toEqual([[unshared], []]);
    expect(await stranger.stored('s', { ids: [shared.id, unshared.id] })).toEqual([]);
    expect(await stranger.stored('s', { search: WORD })).toEqual([]);

    const address = `${kind}:${alice.pubkey}:${d}`;
    await stranger.publish(carol.sign(5, [['a', address], ['k', String(kind)]], '', now - 30));
    expect(await seen()).toEqual([[unshared], []]);
    expect(await author.publish(alice.sign(5, [['a', address], ['k', String(kind)]], '', now - 30))).toEqual([true, '']);
    expect(await seen()).toEqual([[], []]);
    expect((await author.publish(unshared))[1]).toMatch(/^blocked: /);
    expect(await author.publish(again)).toEqual([true, '']);
    expect(await seen()).toEqual([[again], [again]]);
  });
});

it('deletes an instructions version by a request that says so, alone, and hides it from then on', async () => {
  const relay = await startRelay();
  const author = await Client.as(alice, relay);
  const version = alice.sign(44_300, [['t', 'team']], 'sealed');
  await author.publish(version);
  for (const tags of [[['e', version.id]], [['e', version.id], ['k', '1']], [['e', version.id], ['k', '44301']]]) {
    expect(await post(relay, alice, '/events', alice.sign(5, tags))).toMatchObject({ status: 400 });
  }
  const request = alice.sign(5, [['e', version.id], ['k', '44300']]);
  expect(await post(relay, alice, '/events', request)).toMatchObject({ status: 200 });
  expect(await author.stored('s', { kinds: [5, 44_300] })).toEqual([request.id]);
  expect((await post(relay, carol, '/query', [{ kinds: [5, 44_300] }, { ids: [request.id, version.id] }])).body).toEqual([]);
});
