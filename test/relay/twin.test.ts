/**
 * Twins: what SQL finds for a reader equals the naive filter over all events that the naive rules keep, with access
 * judged by the predicate that live deliveries use.
 */
import { hash } from 'node:crypto';
import * as fc from 'fast-check';
import { afterEach, expect, it } from 'vitest';
import { eventId, seconds } from '../../src/model/index.ts';
import type { ChannelId, Pubkey } from '../../src/model/index.ts';
import { matchesFilter } from '../../src/nostr/index.ts';
import type { EventTemplate, Filter, UnverifiedEvent, VerifiedEvent } from '../../src/nostr/index.ts';
import { audienceOf, maySee } from '../../src/relay/access.ts';
import { keep } from '../../src/relay/archive.ts';
import type { Channel } from '../../src/relay/channel.ts';
import { addressOf } from '../../src/relay/kinds.ts';
import { DEFAULT_LIMITS } from '../../src/relay/limits.ts';
import type { Query } from '../../src/relay/messages.ts';
import { countStored, findStored, matchesQuery, newestSeq, readStored } from '../../src/relay/query.ts';
import { RELAY_SCHEMA } from '../../src/relay/schema.ts';
import { openSqlite, sql } from '../../src/store/index.ts';
import type { Store } from '../../src/store/index.ts';
import { runs } from '../setup/runs.ts';
import { alice, bob, carol, OPEN, PRIVATE } from './harness.ts';

const people = [alice, bob, carol].map(({ pubkey }) => pubkey);
const channel = (id: ChannelId, visibility: 'open' | 'private', members: Channel['members']): Channel => ({
  id, visibility, members, name: '', about: '', type: 'stream', archived: false, stampSec: seconds(0),
});
const channels = new Map([
  [OPEN, channel(OPEN, 'open', new Map())],
  [PRIVATE, channel(PRIVATE, 'private', new Map([[bob.pubkey, 'member']]))],
]);

// Few values of everything, so that things meet; among them what SQL could stumble over.
const text = fc.oneof(
  { arbitrary: fc.constantFrom('x', "it's"), weight: 5 },
  { arbitrary: fc.constantFrom(alice.pubkey, OPEN), weight: 2 },
  { arbitrary: fc.constantFrom('', 'a\0b', '%', 'é😀', '\ufffd', PRIVATE, ...people), weight: 1 },
);
const letter = fc.oneof(
  { arbitrary: fc.constant('t'), weight: 4 }, { arbitrary: fc.constantFrom('p', 'h', 'T', 'd', 'e', 'a'), weight: 5 },
);
const kind = fc.constantFrom(0, 1, 7, 9, 10_002, 30_078, 30_174, 30_175, 44_100, 44_200, 44_300, 1059);
const time = fc.integer({ min: 10, max: 14 });

const channelTag = fc.constantFrom<readonly (readonly string[])[]>([], [['h', OPEN]], [['h', PRIVATE]]);
const freeTag = fc.tuple(letter.filter((name) => name !== 'h'), text);
const freeTags = fc.array(freeTag, { maxLength: 6, size: 'medium' });
const events = fc.array(
  fc.record({
    pubkey: fc.constantFrom(...people), kind, created_at: time.map(seconds), content: fc.nat(3).map(String),
    tags: fc.tuple(channelTag, freeTags).map(([own, free]) => [...own, ...free]),
  }).map(unsigned),
  { maxLength: 25, size: 'medium' },
);
const tagValue = fc.oneof({ arbitrary: text, weight: 5 }, fc.constant('\ud800'));
const tagValues = fc.array(tagValue, { maxLength: 4, size: 'medium' });
// Half of the filters ask for little but tags: a filter of everything rarely finds two of anything.
const tags = fc.array(fc.tuple(letter, tagValues), { minLength: 1, maxLength: 2 }).map((pairs) => new Map(pairs));
const broad = fc.record({ tags, limit: fc.nat(6) }, { requiredKeys: ['tags'] });
const narrow = fc.record({
  authors: fc.array(fc.constantFrom(...people), { maxLength: 3 }),
  kinds: fc.array(kind, { maxLength: 4 }),
  since: time,
  until: time,
  limit: fc.nat(6),
  tags,
}, { requiredKeys: [] });
const search = fc.option(fc.constantFrom('1', '2', '3', '1 1', 'hm'), { nil: undefined, freq: 3 });
const paged = fc.tuple(fc.oneof<fc.Arbitrary<Filter>[]>(broad, narrow), fc.boolean(), search);
/** Among the kinds above. */
const SEARCHED: ReadonlySet<number> = new Set([1, 9, 30_175]);

/** An event with an id of its own; nobody looks at the signature here, and 16,000 of them would take a minute. */
function unsigned(parts: EventTemplate & { readonly pubkey: Pubkey }): VerifiedEvent {
  const id = eventId(hash('sha256', JSON.stringify(parts)));
  return { ...parts, id, sig: '' } as UnverifiedEvent as VerifiedEvent;
}

/** NIP-01 by the book: one event an address, the newest, of equal ones the lowest id; every id once. */
function naiveKeep(all: readonly VerifiedEvent[]): readonly VerifiedEvent[] {
  const kept = new Map<string, VerifiedEvent>();
  for (const event of all) {
    const at = addressOf(event) ?? event.id;
    const old = kept.get(at);
    const wins = old === undefined || event.created_at > old.created_at
      || (event.created_at === old.created_at && event.id < old.id);
    if (wins) kept.set(at, event);
  }
  return [...kept.values()];
}

function newestFirst(a: VerifiedEvent, b: VerifiedEvent): number {
  return b.created_at - a.created_at || (a.id < b.id ? -1 : 1);
}

/** The content of an event here is one word. */
function hasWords(words: string | undefined, { kind, content }: VerifiedEvent): boolean {
  return words === undefined || (SEARCHED.has(kind) && words.split(' ').every((word) => word === content));
}

let store: Store | undefined;
afterEach(() => store?.close());

it('finds, counts and reads what the naive relay would, in its order', async () => {
  await fc.assert(fc.asyncProperty(
    events, fc.oneof(fc.tuple(paged), fc.array(paged, { minLength: 2, maxLength: 3 })),
    fc.constantFrom(...people), fc.nat(),
    async (all, filters, pubkey, pick) => {
      store = openSqlite(':memory:', RELAY_SCHEMA);
      await Promise.all(all.map((event) => keep(at(store), [{ event, json: JSON.stringify(event), audience: audienceOf(event) }])));
      const naive = naiveKeep(all);
      // The replay of a subscription is cut at a place: what is stored beyond it does not exist for it.
      const seqs = await store.read(sql('SELECT seq, id FROM events'));
      const some = Number(seqs[pick % Math.max(1, seqs.length)]?.['seq'] ?? 0);
      const cutSeq = pick % 3 === 0 ? some : await newestSeq(store);
      const beyond = new Set(seqs.filter(({ seq }) => Number(seq) > cutSeq).map(({ id }) => id));
      const visible = naive.filter((event) => maySee(audienceOf(event), event, pubkey, channels)).sort(newestFirst);
      const cursor = naive[pick % Math.max(1, naive.length)];
      // Some queries are pages: they go on from a stored event's place, or ask for ids.
      const queries = filters.map(([base, paged, words]): Query => {
        const asked = words === undefined ? {} : { search: words };
        if (cursor === undefined || !paged) return { filter: base, ...asked };
        return pick % 2 === 0
          ? { filter: { ...base, until: cursor.created_at }, beforeId: cursor.id, ...asked }
          : { filter: { ...base, ids: [cursor.id, ...naive.slice(0, 2).map(({ id }) => id)] }, ...asked };
      });
      const finds = (query: Query, event: VerifiedEvent): boolean => matchesQuery(query, event) && hasWords(query.search, event);

      const expected = new Set(queries.flatMap((query) =>
        visible.filter((event) => finds(query, event) && !beyond.has(event.id))
          .slice(0, query.filter.limit ?? DEFAULT_LIMITS.defaultLimit)));
      const reader = { pubkey, channels };
      const places = await findStored(store, queries, reader, cutSeq, DEFAULT_LIMITS);
      const found = await readStored(store, places, reader);
      expect(found).toEqual([...expected].sort(newestFirst).map((event) => JSON.stringify(event)));
      expect(await countStored(store, queries, reader))
        .toBe(visible.filter((event) => queries.some((query) => finds(query, event))).length);
      await store.close();
    },
  ), { numRuns: runs(200) });
}, 120_000);

it('takes a page cursor as an exact cut of the filter', () => {
  fc.assert(fc.property(events, time, (all, until) => {
    for (const cursor of all) {
      const rest = all.filter((event) => matchesQuery({ filter: { until }, beforeId: cursor.id }, event));
      expect(rest).toEqual(all.filter((event) =>
        matchesFilter({ until }, event) && (event.created_at < until || event.id > cursor.id)));
    }
  }), { numRuns: 50 });
});

it('shows nothing of a channel nobody knows', () => {
  const event = alice.sign(9, [['h', '00000000-0000-4000-8000-0000000000ff']]);
  expect(maySee(audienceOf(event), event, alice.pubkey, channels)).toBe(false);
  const control = alice.sign(9, [['h', OPEN]]);
  expect(maySee(audienceOf(control), control, alice.pubkey, channels)).toBe(true);
});

function at(opened: Store | undefined): Store {
  if (opened === undefined) throw new Error('no store');
  return opened;
}
