/**
 * `storage.*` on a relay in memory: which event is a record, what replaces it, and what is said when that cannot be
 * known. The owner outside reads and writes with nostr-tools.
 */
import * as nip44 from 'nostr-tools/nip44';
import { describe, expect, it } from 'vitest';
import { decide } from '../../../src/broker/actions/index.ts';
import { openLines } from '../../../src/broker/lines.ts';
import type { Person } from '../people.ts';
import type { Tag, VerifiedEvent } from '../../../src/nostr/index.ts';
import { HeldClock } from '../clock.ts';
import { AGENT, OWNER, START_SEC, STRANGER } from '../people.ts';
import { bench } from './harness.ts';
import type { Bench } from './harness.ts';

const SLUG = 'mem/a';
const KEY = nip44.getConversationKey(OWNER.secretKey, AGENT.pubkey);
const D = bench().context.withOwner.engramAddress(SLUG) ?? '';

interface Parts {
  readonly body?: string;
  readonly content?: string;
  readonly by?: Person;
  readonly tags?: readonly Tag[];
  readonly at?: number;
  readonly kind?: number;
}

/** A record as somebody else's program writes it. */
function record({ body, content, by = AGENT, tags = [['d', D], ['p', OWNER.pubkey]], at = START_SEC, kind = 30_174 }: Parts): VerifiedEvent {
  return by.sign({ kind, tags, content: content ?? nip44.encrypt(body ?? '', KEY), createdAtSec: at });
}

function memory(value: string | null, at = START_SEC): VerifiedEvent {
  return record({ body: JSON.stringify({ slug: SLUG, value }), at });
}

/** The value, `nothing`, or the code of the refusal. */
async function get({ context }: Bench, slug = SLUG): Promise<string> {
  const decision = await decide({ action: 'storage.get', requestId: 'r', args: { slug } }, context);
  if (decision.type === 'refuse') return decision.code;
  const { value } = decision.verdict.outcome;
  return value === undefined ? 'nothing' : `value ${value}`;
}

function put({ context }: Bench, value = 'v', slug = SLUG) {
  return decide({ action: 'storage.put', requestId: 'r', args: { slug, value } }, context);
}

describe('storage.address', () => {
  it('is what the owner derives, and no key', async () => {
    const decision = await decide({ action: 'storage.address', requestId: 'r', args: { slug: SLUG } }, bench().context);
    expect(decision).toEqual({
      type: 'answer',
      verdict: { status: 'succeeded', action: 'storage.address', outcome: { authorPubkey: AGENT.pubkey, kind: 30_174, dTag: D } },
    });
  });
});

describe('storage.get', () => {
  const early = memory('early', START_SEC - 10);

  it.each<readonly [string, readonly VerifiedEvent[], string]>([
    ['nothing there', [], 'nothing'],
    ['a value', [memory('v')], 'value v'],
    ['an empty value', [memory('')], 'value '],
    ['a tombstone', [early, memory(null)], 'nothing'],
    ['the later of two', [memory('late'), early], 'value late'],
    ['a text that opens under no key', [early, record({ content: 'A'.repeat(132) })], 'value early'],
    ['no payload', [early, record({ content: '#' })], 'value early'],
    ['an empty content', [early, record({ content: '' })], 'value early'],
    ['another slug in it', [early, record({ body: '{"slug":"mem/b","value":"x"}' })], 'value early'],
    ['a member twice', [early, record({ body: '{"slug":"mem/a","value":"x","value":"y"}' })], 'value early'],
    ['another author', [early, record({ body: '{"slug":"mem/a","value":"x"}', by: STRANGER })], 'value early'],
    ['another owner', [early, record({ body: '{"slug":"mem/a","value":"x"}', tags: [['d', D], ['p', STRANGER.pubkey]] })], 'value early'],
    ['two owners', [early, record({ body: '{"slug":"mem/a","value":"x"}', tags: [['d', D], ['p', OWNER.pubkey], ['p', OWNER.pubkey]] })], 'value early'],
    ['no owner', [early, record({ body: '{"slug":"mem/a","value":"x"}', tags: [['d', D]] })], 'value early'],
    ['two addresses', [early, record({ body: '{"slug":"mem/a","value":"x"}', tags: [['d', D], ['d', D], ['p', OWNER.pubkey]] })], 'value early'],
    ['another kind', [early, record({ body: '{"slug":"mem/a","value":"x"}', kind: 30_175 })], 'value early'],
    ['only what is invalid', [record({ content: '#' })], 'nothing'],
  ])('%s', async (_, kept, expected) => {
    const made = bench();
    made.relay.keep(...kept);
    expect(await get(made)).toBe(expected);
  });

  it('in one second the lower id is the head', async () => {
    const two = [memory('one'), memory('two')].sort((a, b) => (a.id < b.id ? -1 : 1));
    const made = bench();
    made.relay.keep(...two);
    const [lower] = two;
    const alone = bench();
    if (lower !== undefined) alone.relay.keep(lower);
    expect(await get(made)).toBe(await get(alone));
  });

  it('of core is its profile', async () => {
    const made = bench();
    const d = made.context.withOwner.engramAddress('core') ?? '';
    made.relay.keep(record({ body: '{"slug":"core","profile":"who I am"}', tags: [['d', d], ['p', OWNER.pubkey]] }));
    expect(await get(made, 'core')).toBe('value who I am');
  });

  it('is a failure where the relay does not answer, or holds too much that is not valid', async () => {
    const made = bench();
    made.relay.keep(memory('v'));
    made.relay.readable = false;
    expect(await get(made)).toBe('internal');
    made.relay.readable = true;
    expect(await get(made)).toBe('value v');
    for (let at = 1; at <= 100; at += 1) made.relay.keep(record({ content: '#', at: START_SEC + at }));
    expect(await get(made)).toBe('internal');
  });

  it('is not what a lying relay hands out', async () => {
    const made = bench();
    const elsewhere = record({ body: '{"slug":"mem/a","value":"x"}', tags: [['d', 'f'.repeat(64)], ['p', OWNER.pubkey]] });
    expect(await get({ ...made, context: { ...made.context, fetch: () => Promise.resolve({ events: [elsewhere], complete: true }) } })).toBe('nothing');
  });
});

describe('storage.put', () => {
  it('is a kind 30174 that the owner reads with any client', async () => {
    const decision = await put(bench(), ' "as it is"\n');
    if (decision.type !== 'publish') return expect.fail(decision.type);
    const { kind, tags, content, notBefore } = decision.draft;
    expect([kind, tags, notBefore]).toEqual([30_174, [['d', D], ['p', OWNER.pubkey]], 0]);
    expect(nip44.decrypt(content, KEY)).toBe('{"slug":"mem/a","value":" \\"as it is\\"\\n"}');
  });

  it('takes the largest record there is', async () => {
    const decision = await put(bench(), 'x'.repeat(65_535 - 27));
    if (decision.type !== 'publish') return expect.fail(decision.type);
    expect(nip44.decrypt(decision.draft.content, KEY)).toHaveLength(65_535);
  });

  it.each<readonly [string, readonly VerifiedEvent[], number]>([
    ['the head', [memory('v', START_SEC + 900)], START_SEC + 901],
    ['a tombstone', [memory(null, START_SEC)], START_SEC + 1],
    ['what is there and not valid', [memory('v'), record({ content: '#', at: START_SEC + 5 })], START_SEC + 6],
    ['the past', [memory('v', START_SEC - 100)], START_SEC - 99],
  ])('is stamped above %s', async (_, kept, notBefore) => {
    const made = bench();
    made.relay.keep(...kept);
    expect(await put(made)).toMatchObject({ draft: { notBefore } });
  });

  it('does not outrun a head of the far future', async () => {
    const made = bench();
    made.relay.keep(memory('v', START_SEC + 901));
    expect(await put(made)).toMatchObject({ type: 'refuse', code: 'action_failed' });
  });

  it('is not sent where the record cannot be read, or another write goes on for too long', async () => {
    const made = bench();
    made.relay.readable = false;
    expect(await put(made)).toMatchObject({ type: 'refuse', code: 'internal' });
    made.relay.readable = true;
    const context = { ...made.context, alone: () => Promise.resolve(false) };
    expect(await put({ ...made, context })).toMatchObject({ type: 'refuse', code: 'internal' });
    expect(await put(made)).toMatchObject({ type: 'publish' });
  });
});

describe('a line', () => {
  it('lets in one after the other, and nobody for whom it takes too long', async () => {
    const clock = new HeldClock();
    const lines = openLines(clock);
    const first = await lines.enter('a', 100);
    const order: string[] = [];
    const second = lines.enter('a', 100).then((leave) => {
      order.push(leave === undefined ? 'second gave up' : 'second');
    });
    const third = lines.enter('a', 1_000).then((leave) => {
      order.push('third');
      leave?.();
    });
    (await lines.enter('b', 100))?.();
    clock.push(100);
    await second;
    expect(order).toEqual(['second gave up']);
    first?.();
    await third;
    expect(order).toEqual(['second gave up', 'third']);
    expect(await lines.enter('a', 100)).toBeTypeOf('function');
    expect(clock.alarms).toBe(0);
  });
});
