/**
 * The relay that the owner's flows are given, over real sockets: the relay in the box, and ones that cap, shuffle,
 * repeat, forge, break off, do not know `before_id` or refuse it. Whatever they do, a history is whole or not said to be.
 */
import { expect, it, onTestFinished } from 'vitest';
import { seconds, silentLog } from '../../src/model/index.ts';
import type { Clock } from '../../src/model/index.ts';
import { matchesFilter, newestFirst, parseFilter } from '../../src/nostr/index.ts';
import type { VerifiedEvent } from '../../src/nostr/index.ts';
import { openLocalKey, openPersonaRelay } from '../../src/owner/index.ts';
import type { OwnerRelay } from '../../src/owner/index.ts';
import { deleteVersions, historyPage, versionTemplate } from '../../src/persona/index.ts';
import type { Cursor, OwnerPorts, PersonaRelay, Subject } from '../../src/persona/index.ts';
import { steadyClock, systemClock, systemRandom } from '../../src/system/index.ts';
import { until } from '../broker/upstream/clock.ts';
import { TestRelay } from '../broker/upstream/relay.ts';
import type { Connection, Message } from '../broker/upstream/relay.ts';
import { agent } from '../persona/people.ts';
import { ownerKey, seal, signed } from '../persona/world.ts';
import { alice, bob, HeldClock, startRelay } from '../relay/harness.ts';

const SUBJECT: Subject = { type: 'agent', agent };
/** Three seconds of them, seven in the one in the middle. */
const VERSIONS = [100, ...Array.from({ length: 7 }, () => 101), 102, 102]
  .map((at, index) => signed(versionTemplate(SUBJECT, seal(`v1:${String(index)}`), seconds(1_700_000_000 + at))))
  .sort(newestFirst);

function open(url: string, clock: Clock = steadyClock): OwnerRelay {
  const key = openLocalKey(Buffer.from(alice.key).toString('hex'), 'owner.key', systemRandom);
  const relay = openPersonaRelay({ relayUrl: url, key, clock: systemClock, steadyClock: clock, random: systemRandom, log: silentLog });
  onTestFinished(() => relay.close());
  return relay;
}

function portsOver(relay: PersonaRelay): OwnerPorts {
  return { key: ownerKey(), relay, nowSec: () => seconds(1_700_000_200) };
}

/** The whole history, or why it is not known; never a part of it. */
async function history(relay: PersonaRelay, limit = 100): Promise<readonly string[] | string> {
  const ids: string[] = [];
  let cursor: Cursor | undefined;
  for (;;) {
    const next = await historyPage(portsOver(relay), SUBJECT, cursor, limit);
    if (!next.ok) return next.detail;
    if (next.page.status === 'end') return ids;
    ids.push(...next.page.versions.map(({ id }) => id));
    ({ cursor } = next.page);
  }
}

interface Manners {
  /** Events given for one filter at most. */
  readonly cap?: number;
  /** What it makes of `before_id`. */
  readonly cursor: 'known' | 'ignored' | 'refused';
  /** The events of an answer as they are sent. */
  readonly order?: (events: readonly VerifiedEvent[]) => readonly unknown[];
  /** It heeds neither `until` nor `since`: each page is the first one. */
  readonly unbounded?: boolean;
  /** Every third question behind a cursor is answered with the page before. */
  readonly repeats?: boolean;
  readonly stored?: readonly VerifiedEvent[];
}

/** One that stores what it is told at the start, and answers as it likes. */
async function hostileRelay({ cap = Infinity, cursor, order = (events) => events, unbounded = false, repeats = false, stored = VERSIONS }: Manners): Promise<TestRelay> {
  let turn = 0;
  let before: readonly VerifiedEvent[] = [];
  const answer = (connection: Connection, [word, id, wire]: Message): void => {
    if (word === 'AUTH') connection.send('OK', (id as VerifiedEvent).id, true, '');
    if (word !== 'REQ' || typeof wire !== 'object' || wire === null) return;
    const { before_id: beforeId, ...members } = wire as Readonly<Record<string, unknown>>;
    if (beforeId !== undefined && cursor === 'refused') {
      connection.send('CLOSED', id, 'invalid: unrecognised filter item');
      return;
    }
    const parsed = parseFilter(members);
    if (!parsed.ok) throw new Error(parsed.detail);
    const filter = unbounded ? { ...parsed.filter, since: 0, until: Infinity } : parsed.filter;
    const isBehind = ({ created_at, id: eventId }: VerifiedEvent): boolean =>
      beforeId === undefined || cursor === 'ignored' || created_at < (filter.until ?? 0) || (typeof beforeId === 'string' && eventId > beforeId);
    const found = stored.filter((event) => matchesFilter(filter, event) && isBehind(event)).sort(newestFirst).slice(0, Math.min(filter.limit ?? cap, cap));
    if (beforeId !== undefined) turn += 1;
    const sent = repeats && beforeId !== undefined && turn % 3 === 0 ? before : found;
    before = found;
    for (const event of order(sent)) connection.send('EVENT', id, event);
    connection.send('EOSE', id);
  };
  const relay = await TestRelay.open(answer, (connection) => { connection.send('AUTH', 'challenge'); });
  onTestFinished(() => relay.close());
  return relay;
}

const WHOLE = VERSIONS.map(({ id }) => id);

it('reads, writes and deletes at the relay in the box', async () => {
  const box = await startRelay();
  const relay = open(box.url);
  for (const version of VERSIONS) expect(await relay.publish(version)).toMatchObject({ status: 'accepted' });
  expect(await relay.publish(VERSIONS[0] ?? expect.fail())).toMatchObject({ status: 'accepted' });
  expect(await relay.publish(bob.sign(44_300, [['p', agent]], 'x'))).toMatchObject({ status: 'rejected', reason: expect.stringContaining('pubkey') });
  for (const limit of [1, 2, 3, 100]) expect(await history(relay, limit)).toEqual(WHOLE);
  expect(await deleteVersions(portsOver(relay), SUBJECT, { clock: steadyClock, signal: new AbortController().signal })).toBe('done');
  expect(await history(relay)).toEqual([]);
});

it.each<readonly [string, Manners]>([
  ['caps its pages', { cap: 2, cursor: 'known' }],
  ['caps them at one and sends the last page again now and then', { cap: 1, cursor: 'known', repeats: true }],
  ['sends a page in any order, each event twice', { cap: 3, cursor: 'known', order: (events) => [...events].reverse().flatMap((event) => [event, event]) }],
  ['mixes in what is forged, or was not asked for', {
    cap: 3, cursor: 'known', order: (events) => [{ ...VERSIONS[0], content: 'other' }, bob.sign(44_300, [['p', agent]]), 7, ...events],
  }],
  ['does not know before_id', { cursor: 'ignored' }],
  ['does not know it, and caps higher than a second has versions', { cap: 8, cursor: 'ignored' }],
  ['refuses it', { cursor: 'refused' }],
  ['refuses it, and caps higher than a second has versions', { cap: 8, cursor: 'refused' }],
  ['does not know it, and has one version', { cursor: 'ignored', stored: [...VERSIONS.slice(0, 1), alice.sign(30_175, [['d', 'a']], '{}', 1), alice.sign(0, [], '{}', 2)] }],
])('gives every version once, in order, of a relay that %s', async (_, manners) => {
  const relay = open((await hostileRelay(manners)).url);
  const expected = (manners.stored ?? VERSIONS).filter(({ kind }) => kind === 44_300).map(({ id }) => id);
  for (const limit of [2, 100]) expect(await history(relay, limit)).toEqual(expected);
  expect(relay.trouble() ?? '').not.toMatch(/may hold more/);
});

it.each<readonly [string, Manners]>([
  ['ignores before_id and caps a second short', { cap: 3, cursor: 'ignored' }],
  ['refuses it and caps a second short', { cap: 7, cursor: 'refused' }],
  ['has one event alone, so that nobody knows how it caps', { cursor: 'ignored', stored: VERSIONS.slice(0, 1) }],
])('says that it cannot know where a relay %s', async (_, manners) => {
  const relay = open((await hostileRelay(manners)).url);
  expect(await history(relay)).toMatch(/^relay: expected a (?:whole page|page behind the last event)/);
  expect(relay.trouble()).toMatch(/does not know before_id/);
});

it.each<readonly [string, Manners]>([
  ['is given the first page for every page', { cap: 8, cursor: 'ignored', unbounded: true }],
  ['and the limit is heeded', { cursor: 'ignored', unbounded: true }],
])('takes what lies outside of what was asked for no empty page: %s', async (_, manners) => {
  const relay = open((await hostileRelay(manners)).url);
  expect(await history(relay, 8)).toBe('relay: expected a whole page; its answer did not come, or not all of it');
});

it('waits no longer than it says, for an answer and for a verdict, and goes on after', async () => {
  const silent = await TestRelay.open((connection, [word, event]) => {
    if (word === 'AUTH') connection.send('OK', (event as VerifiedEvent).id, true, '');
  }, (connection) => { connection.send('AUTH', 'challenge'); });
  onTestFinished(() => silent.close());
  const clock = new HeldClock();
  const relay = open(silent.url, clock);
  const outcomes: unknown[] = [];
  void relay.query([{ kinds: [30_175] }]).then((answer) => outcomes.push(answer));
  void relay.publish(VERSIONS[0] ?? expect.fail()).then((outcome) => outcomes.push(outcome));
  const connection = await silent.connection();
  await connection.got('REQ');
  await connection.got('EVENT');
  expect(outcomes).toEqual([]);
  clock.push(15_000);
  await until(() => outcomes.length === 2);
  expect(outcomes).toEqual(expect.arrayContaining([{ events: [], complete: false }, expect.objectContaining({ status: 'unknown' })]));
  await relay.close();
  expect(await relay.query([{ kinds: [30_175] }])).toEqual({ events: [], complete: false });
});

it('refuses what is no URL of a relay', () => {
  expect(() => open('http://relay.example')).toThrow(/ws:\/\//);
});
