/** The pure rules, as tables: messages, the form of events, AUTH, quotas, the state of channels. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { milliseconds, seconds } from '../../src/model/index.ts';
import { attest } from '../../src/nostr/index.ts';
import type { EventTemplate, Tag, UnverifiedEvent, VerifiedEvent } from '../../src/nostr/index.ts';
import { checkAuth, sameRelay } from '../../src/relay/auth.ts';
import { channelEvents, nextStamp, restoreChannels } from '../../src/relay/channel-events.ts';
import { decideChange } from '../../src/relay/channel.ts';
import type { Channel } from '../../src/relay/channel.ts';
import { checkForm } from '../../src/relay/forms.ts';
import { routeFrame } from '../../src/relay/frames.ts';
import { DEFAULT_LIMITS } from '../../src/relay/limits.ts';
import { parseClientMessage } from '../../src/relay/messages.ts';
import { Pace } from '../../src/relay/pace.ts';
import { fullQuota, takeOne } from '../../src/relay/quota.ts';
import { Subscription } from '../../src/relay/subscription.ts';
import type { Delivery } from '../../src/relay/subscription.ts';
import { alice, bob, carol, OPEN } from './harness.ts';

const nowSec = seconds(1_800_000_000);
const ID = 'ab'.repeat(32);

describe('client messages', () => {
  const parse = (message: unknown): ReturnType<typeof parseClientMessage> =>
    parseClientMessage(Buffer.from(typeof message === 'string' ? message : JSON.stringify(message)), DEFAULT_LIMITS);
  const event = alice.sign(1);

  it.each([
    [['EVENT', event], 'event'],
    [['AUTH', event], 'auth'],
    [['REQ', 's', {}], 'req'],
    [['REQ', 's', { ids: [ID], authors: [ID], kinds: [1], '#e': ['x'], '#T': [] }], 'req'],
    [['REQ', 's', { since: 1, until: 2, limit: 0 }, { until: 2, before_id: ID }], 'req'],
    [['COUNT', 's', {}], 'count'],
    [['CLOSE', 's'], 'close'],
    [['EVENT', { ...event, kind: -1 }], 'bad_event'],
    [['EVENT', { ...event, extra: 1 }], 'bad_event'],
    [['EVENT', { id: 'short' }], 'bad_message'],
    [['EVENT'], 'bad_message'],
    [['REQ', 's'], 'bad_subscription'],
    [['REQ', 's', ...Array.from({ length: 11 }, () => ({}))], 'bad_subscription'],
    [['REQ', 's', { search: 'x' }], 'req'],
    [['REQ', 's', { search: 7 }], 'bad_subscription'],
    [['REQ', 's', []], 'bad_subscription'],
    [['REQ', 's', [{}]], 'bad_subscription'],
    [['REQ', 's', { ids: ['ab'] }], 'bad_subscription'],
    [['REQ', 's', { until: 1, before_id: 'x' }], 'bad_subscription'],
    [['REQ', 's', { before_id: ID }], 'bad_subscription'],
    [['REQ', 's', { until: 1, before_id: null }], 'bad_subscription'],
    [['REQ', 's', { until: 1, before_id: ID.toUpperCase() }], 'req'],
    [['REQ', 's', null], 'bad_subscription'],
    [['REQ', '', {}], 'bad_message'],
    [['REQ', 'x'.repeat(257), {}], 'bad_message'],
    [['REQ', 7, {}], 'bad_message'],
    [['CLOSE'], 'bad_message'],
    [['HELLO'], 'bad_message'],
    [{}, 'bad_message'],
    ['[', 'bad_message'],
    ['', 'bad_message'],
  ])('%j is %s', (message, type) => {
    expect(parse(message).type).toBe(type);
  });

  it('answers an oversized message where its sender looks', () => {
    const long = { ...event, content: 'x'.repeat(DEFAULT_LIMITS.maxMessageBytes) };
    expect(parse(['EVENT', long])).toMatchObject({ type: 'bad_event', id: event.id, refusal: { code: 'invalid' } });
    expect(parse(['REQ', 's', { '#t': [long.content] }])).toMatchObject({ type: 'bad_subscription', id: 's' });
  });

  it('takes any text without throwing', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (anything) => {
      expect(parse(anything).type).toMatch(/^(bad_message|close|req|count)$/);
    }));
  });
});

describe('the form of an event', () => {
  const make = (
    kind: number, tags: readonly Tag[] = [], content = '', createdAtSec: number = nowSec,
  ): UnverifiedEvent =>
    ({ ...alice.sign(1), kind, tags, content, created_at: seconds(createdAtSec) });
  const h: Tag = ['h', OPEN];
  const sealed = 'x'.repeat(132);
  const frame = (tags: readonly Tag[], content = sealed, createdAtSec?: number): UnverifiedEvent =>
    make(24_200, tags, content, createdAtSec);
  const route: readonly Tag[] = [['p', bob.pubkey], ['agent', alice.pubkey], ['frame', 'telemetry']];

  it.each<[string, UnverifiedEvent, string | undefined]>([
    ['a note', make(1), undefined],
    ['kind 22242', make(22_242), 'invalid'],
    ['kind 27235', make(27_235), 'invalid'],
    ['kind 24242', make(24_242), 'invalid'],
    ['relay metadata from a client', make(39_000, [['d', OPEN]]), 'restricted'],
    ['a membership notice from a client', make(44_100, [['p', alice.pubkey], h]), 'restricted'],
    ['a command not carried out', make(9_008, [h]), 'restricted'],
    ['900 s ahead', make(1, [], '', nowSec + 900), undefined],
    ['901 s ahead', make(1, [], '', nowSec + 901), 'invalid'],
    ['2,000 tags', make(1, Array.from({ length: 2_000 }, () => ['t', 'x'])), undefined],
    ['2,001 tags', make(1, Array.from({ length: 2_001 }, () => ['t', 'x'])), 'invalid'],
    ['a lone surrogate in content', make(1, [], '\ud800'), 'invalid'],
    ['a lone surrogate in a tag', make(1, [['t', '\udfff']]), 'invalid'],
    ['a message without channel', make(9), 'invalid'],
    ['a message in a channel', make(9, [h]), undefined],
    ['two channels', make(9, [h, h]), 'invalid'],
    ['a channel that is no UUID', make(9, [['h', OPEN.toUpperCase().replace('0', 'A')]]), 'invalid'],
    ['65,536 bytes of message', make(9, [h], 'x'.repeat(65_536)), undefined],
    ['65,537 bytes of message', make(9, [h], `${'x'.repeat(65_535)}é`), 'invalid'],
    ['65,537 bytes of note', make(1, [], 'x'.repeat(65_537)), undefined],
    ['a reaction without channel', make(7, [['e', ID]]), undefined],
    ['a canvas without channel', make(40_100), 'invalid'],
    ['a frame', frame(route), undefined],
    ['a frame with a channel', frame([...route, h]), undefined],
    ['a frame with two p', frame([...route, ['p', carol.pubkey]]), 'invalid'],
    ['a frame without agent', frame(route.filter(([name]) => name !== 'agent')), 'invalid'],
    ['a frame without frame', frame(route.slice(0, 2)), 'invalid'],
    ['a frame 300 s old', frame(route, sealed, nowSec - 300), undefined],
    ['a frame 301 s old', frame(route, sealed, nowSec - 301), 'invalid'],
    ['a frame 301 s ahead', frame(route, sealed, nowSec + 301), 'invalid'],
    ['a frame too short to be sealed', frame(route, 'x'.repeat(131)), 'invalid'],
    ['a frame too long', frame(route, 'x'.repeat(87_473)), 'invalid'],
    ['a turn metric', make(44_200, [['p', bob.pubkey], ['agent', alice.pubkey]], sealed), undefined],
    ['a turn metric for two', make(44_200, [['p', bob.pubkey], ['p', carol.pubkey], ['agent', alice.pubkey]], sealed), 'invalid'],
    ['a turn metric for a name', make(44_200, [['p', 'bob'], ['agent', alice.pubkey]], sealed), 'invalid'],
    ['a turn metric of another agent', make(44_200, [['p', bob.pubkey], ['agent', carol.pubkey]], sealed), 'invalid'],
    ['a turn metric of no agent', make(44_200, [['p', bob.pubkey]], sealed), 'invalid'],
    ['a turn metric in a channel', make(44_200, [['p', bob.pubkey], ['agent', alice.pubkey], h], sealed), 'invalid'],
    ['a turn metric in the clear', make(44_200, [['p', bob.pubkey], ['agent', alice.pubkey]], '{}'), 'invalid'],
    ['a persona', make(30_175, [['d', 'x']]), undefined],
    ['a persona without d', make(30_175), 'invalid'],
    ['a persona of 64 characters', make(30_175, [['d', '0'.repeat(64)]]), undefined],
    ['a persona of 65 characters', make(30_175, [['d', '0'.repeat(65)]]), 'invalid'],
    ['a persona with a dash first', make(30_175, [['d', '-x']]), 'invalid'],
    ['a persona in upper case', make(30_175, [['d', 'X']]), 'invalid'],
    ['a shared persona', make(30_175, [['d', 'x'], ['shared', 'true']]), undefined],
    ['a persona shared twice', make(30_175, [['d', 'x'], ['shared', 'true'], ['shared', 'true']]), 'invalid'],
    ['a persona shared with more', make(30_175, [['d', 'x'], ['shared', 'true', 'x']]), 'invalid'],
    ['a persona not shared, it says', make(30_175, [['d', 'x'], ['shared', 'false']]), 'invalid'],
    ['a team', make(30_178, [['d', 'builtin-team:welcome']]), undefined],
    ['a team with white space', make(30_178, [['d', 'a b']]), 'invalid'],
    ['a team with a bare d', make(30_178, [['d'], ['d', 'x']]), 'invalid'],
    ['a team of 64 scalars', make(30_178, [['d', '😀'.repeat(64)]]), undefined],
    ['a team of 65 scalars', make(30_178, [['d', '😀'.repeat(65)]]), 'invalid'],
    ['instructions for an agent', make(44_300, [['p', bob.pubkey]], 'x'), undefined],
    ['instructions for a team', make(44_300, [['t', 'x'], ['alt', 'y']], 'x'), undefined],
    ['instructions for both', make(44_300, [['t', 'x'], ['p', bob.pubkey]], 'x'), 'invalid'],
    ['instructions for nobody', make(44_300, [['t']], 'x'), 'invalid'],
    ['instructions for a name', make(44_300, [['p', 'bob']], 'x'), 'invalid'],
    ['instructions in a channel', make(44_300, [['t', 'x'], h], 'x'), 'invalid'],
    ['empty instructions', make(44_300, [['t', 'x']]), 'invalid'],
    ['218,548 bytes of instructions', make(44_300, [['t', 'x']], 'x'.repeat(218_548)), undefined],
    ['218,549 bytes of instructions', make(44_300, [['t', 'x']], 'x'.repeat(218_549)), 'invalid'],
  ])('%s', (_, event, code) => {
    expect(checkForm(event, nowSec, DEFAULT_LIMITS)?.code).toBe(code);
  });
});

describe('AUTH', () => {
  it.each([
    ['ws://h', 'ws://h/', true],
    ['ws://h', 'WS://H:80/', true],
    ['wss://h', 'WSS://H:443/', true],
    ['ws://localhost:7777', 'ws://127.0.0.1:7777/', true],
    ['ws://[::1]:7777', 'ws://127.0.0.1:7777', true],
    ['ws://127.0.0.1:7777', 'ws://127.0.0.1:7778', false],
    ['ws://h', 'wss://h', false],
    ['ws://h', 'ws://h/other', false],
    ['ws://h', 'http://h', false],
    ['ws://h', 'ws://h.evil', false],
    ['ws://h', '', false],
  ])('%s and %s name one relay: %s', (a, b, same) => {
    expect(sameRelay(a, b)).toBe(same);
    expect(sameRelay(b, a)).toBe(same);
  });

  const expected = { challenge: 'c', urls: ['wss://relay.example/', 'ws://127.0.0.1:7'], nowSec, windowSec: 600 } as const;
  const tags: readonly Tag[] = [['relay', 'ws://localhost:7'], ['challenge', 'c']];

  it.each<[string, UnverifiedEvent, boolean]>([
    ['good', alice.sign(22_242, tags, '', nowSec), true],
    ['in the name that clients outside know', alice.sign(22_242, [['relay', 'wss://relay.example'], ['challenge', 'c']], '', nowSec), true],
    ['in another name', alice.sign(22_242, [['relay', 'ws://relay.example'], ['challenge', 'c']], '', nowSec), false],
    ['600 s old', alice.sign(22_242, tags, '', nowSec - 600), true],
    ['601 s old', alice.sign(22_242, tags, '', nowSec - 601), false],
    ['601 s ahead', alice.sign(22_242, tags, '', nowSec + 601), false],
    ['another kind', alice.sign(1, tags, '', nowSec), false],
    ['no challenge', alice.sign(22_242, tags.slice(0, 1), '', nowSec), false],
    ['no relay', alice.sign(22_242, tags.slice(1), '', nowSec), false],
    ['changed', { ...alice.sign(22_242, tags, '', nowSec), content: 'x' }, false],
  ])('%s', (_, event, ok) => {
    expect(checkAuth(event, expected).ok).toBe(ok);
  });

  it('remembers the owner of one valid attestation, and of none else', () => {
    const owned = attest(alice.pubkey, '', bob.key, new Uint8Array(32));
    const other = attest(alice.pubkey, '', carol.key, new Uint8Array(32));
    const stale = attest(alice.pubkey, 'kind=1', bob.key, new Uint8Array(32));
    const ownerBy = (...attestations: readonly Tag[]): unknown => {
      const checked = checkAuth(alice.sign(22_242, [...tags, ...attestations], '', nowSec), expected);
      return checked.ok ? checked.identity.owner : 'refused';
    };
    expect(ownerBy(owned)).toBe(bob.pubkey);
    expect(ownerBy()).toBeUndefined();
    expect(ownerBy(owned, other)).toBeUndefined();
    expect(ownerBy(stale)).toBeUndefined();
  });
});

describe('a quota', () => {
  it('gives its burst at once, then its rate, and says when to come again', () => {
    let quota = fullQuota(2, 3, milliseconds(0));
    const take = (atMs: number): string | undefined => {
      const taken = takeOne(quota, milliseconds(atMs));
      quota = taken.quota;
      return taken.refusal?.detail;
    };
    expect([0, 0, 0].map(take)).toEqual([undefined, undefined, undefined]);
    expect(take(0)).toBe('quota exceeded; retry in 1s');
    expect([499, 500, 501].map((atMs) => take(atMs) === undefined)).toEqual([false, true, false]);
    // A clock that goes back gives nothing and takes nothing.
    expect(take(-100_000)).toBeDefined();
    expect(take(10_000)).toBeUndefined();
  });
});

describe('a pace', () => {
  it('lets each agent have its own in any second, and forgets who is quiet', () => {
    const pace = new Pace(2);
    const take = (agent: string, atMs: number): boolean => pace.take(agent, milliseconds(atMs));
    expect([take('a', 0), take('a', 900), take('a', 999), take('b', 999)]).toEqual([true, true, false, true]);
    expect([take('a', 1_000), take('a', 1_001), take('a', 1_899), take('a', 1_900)]).toEqual([true, false, false, true]);
    for (let index = 0; index < 3_000; index += 1) take(`quiet ${index}`, 2_000 + index * 10);
    expect(pace.remembered).toBeLessThan(1_100);
  });
});

describe('a subscription', () => {
  const delivery = (event: VerifiedEvent, seq: number | undefined): Delivery =>
    ({ event, seq, json: JSON.stringify(event.content), audience: { gate: 'all', channel: undefined } });

  it('holds live events during its replay and then shows those the replay cannot have shown', () => {
    const subscription = new Subscription('s', [{ filter: { kinds: [1] } }]);
    const [before, after, passing] = ['before', 'after', 'passing'].map((content) => alice.sign(1, [], content));
    if (before === undefined || after === undefined || passing === undefined) throw new Error('three events');
    expect(subscription.offer(delivery(before, 4))).toBeUndefined();
    expect(subscription.offer(delivery(after, 5))).toBeUndefined();
    expect(subscription.offer(delivery(passing, undefined))).toBeUndefined();
    expect(subscription.heldLength).toBe('"before""after""passing"'.length);
    expect(subscription.goLive(4)).toEqual(['["EVENT","s","after"]', '["EVENT","s","passing"]']);
    expect(subscription.heldLength).toBe(0);
    expect(subscription.offer(delivery(before, 6))).toBe('["EVENT","s","before"]');
    expect(subscription.wants(alice.sign(7))).toBe(false);
  });
});

describe('observer frames', () => {
  it.each([
    ['telemetry', alice, bob, alice, 'telemetry'],
    ['control', bob, alice, alice, 'control'],
    ['control', alice, bob, alice, 'dropped'],
    ['telemetry', bob, alice, alice, 'dropped'],
    ['new-word', alice, bob, alice, 'dropped'],
    ['telemetry', bob, carol, alice, undefined],
    ['new-word', bob, carol, alice, 'dropped'],
  ])('%s from one to the other goes its way', (frame, from, to, agent, direction) => {
    const tags = [['p', to.pubkey], ['agent', agent.pubkey], ['frame', frame]];
    const route = routeFrame(from.sign(24_200, tags));
    expect(route.ok ? route.direction : undefined).toBe(direction);
  });
});

describe('the state of a channel', () => {
  const people = [alice, bob, carol];
  const change = fc.tuple(
    fc.constantFrom(9000, 9001, 9002, 9021, 9022), fc.constantFrom(...people), fc.subarray(people),
    fc.subarray<Tag>([['name', 'n'], ['about', 'a'], ['private'], ['public'], ['role', 'admin'], ['archived', 'true']]),
  );

  it('is restored from what the relay has signed, after any changes', () => {
    const type = fc.constantFrom('stream', 'forum', 'dm');
    fc.assert(fc.property(type, fc.array(change, { maxLength: 12 }), (channelType, changes) => {
      let before: Channel | undefined;
      const latest = new Map<number, EventTemplate>();
      const requests = [
        alice.sign(9007, [['h', OPEN], ['channel_type', channelType]]),
        ...changes.map(([kind, by, whom, tags]) =>
          by.sign(kind, [['h', OPEN], ...whom.map(({ pubkey }) => ['p', pubkey]), ...tags])),
      ];
      for (const request of requests) {
        const decided = decideChange(before, OPEN, request);
        if (!decided.ok) continue;
        const after = { ...decided.channel, stampSec: nextStamp(before, nowSec) };
        for (const template of channelEvents(before, after)) {
          const replaced = latest.get(template.kind);
          if (template.kind < 40_000 && replaced !== undefined) {
            expect(template.created_at).toBeGreaterThan(replaced.created_at);
          }
          latest.set(template.kind, template);
        }
        before = after;
      }
      const signed = [...latest.values()].filter(({ kind }) => kind < 40_000)
        .map((template) => ({ ...alice.sign(1), ...template }));
      const restored = restoreChannels(signed).get(OPEN);
      // A change that altered nothing was not signed, so the stamp may lag behind; the rest is equal.
      expect({ ...restored, stampSec: 0 }).toEqual({ ...before, stampSec: 0 });
    }));
  });

  it('gives no role to whoever puts himself in, and keeps an admin an admin', () => {
    const created = decideChange(undefined, OPEN, alice.sign(9007, [['h', OPEN]]));
    if (!created.ok) throw new Error('not created');
    const put = (by: typeof alice, tags: readonly Tag[]): unknown => {
      const decided = decideChange(created.channel, OPEN, by.sign(9000, [['h', OPEN], ...tags]));
      return decided.ok ? Object.fromEntries(decided.channel.members) : decided.code;
    };
    expect(put(bob, [['p', bob.pubkey, 'admin']])).toEqual({ [alice.pubkey]: 'admin', [bob.pubkey]: 'member' });
    expect(put(alice, [['p', alice.pubkey]])).toEqual({ [alice.pubkey]: 'admin' });
    expect(put(alice, [['p', bob.pubkey, 'admin']])).toEqual({ [alice.pubkey]: 'admin', [bob.pubkey]: 'admin' });
    expect(put(bob, [['p', carol.pubkey]])).toBe('restricted');
    expect(put(alice, [])).toBe('invalid');
    expect(put(alice, [['p', 'someone']])).toBe('invalid');
  });
});
