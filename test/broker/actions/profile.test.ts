/** `profile.set`: what of a profile is changed, what stays, and when nothing is sent. */
import { describe, expect, it } from 'vitest';
import { decide } from '../../../src/broker/actions/index.ts';
import type { ActionContext } from '../../../src/broker/actions/index.ts';
import type { Args } from '../../../src/broker/wire/index.ts';
import { attest } from '../../../src/nostr/index.ts';
import type { Tag, VerifiedEvent } from '../../../src/nostr/index.ts';
import { openBox } from '../box.ts';
import { bench as openBench, identity, post, requestBytes, told } from '../harness.ts';
import { AGENT, OWNER, START_SEC, STRANGER } from '../people.ts';
import { bench } from './harness.ts';
import type { Bench } from './harness.ts';

const ATTESTATION = attest(AGENT.pubkey, '', OWNER.secretKey, new Uint8Array(32));

function profile(content: string, tags: readonly Tag[] = [], at = START_SEC): VerifiedEvent {
  return AGENT.sign({ kind: 0, tags, content, createdAtSec: at });
}

async function set({ context }: Bench, args: Args<'profile.set'> = { displayName: 'New' }, more: Partial<ActionContext> = {}) {
  return await decide({ action: 'profile.set', requestId: 'r', args }, { ...context, ...more });
}

/** The content it comes to, or the code of the refusal. */
async function contentOf(made: Bench, args?: Args<'profile.set'>): Promise<string> {
  const decision = await set(made, args);
  return decision.type === 'refuse' ? decision.code : decision.draft.content;
}

describe('the content', () => {
  it.each<readonly [string, string | undefined, Args<'profile.set'>, string]>([
    ['none before', undefined, { about: 'a', displayName: 'n', picture: 'p' }, '{"display_name":"n","picture":"p","about":"a"}'],
    ['an empty one', '{}', { about: 'a' }, '{"about":"a"}'],
    ['members in their place', '{"about":"old","name":"n","display_name":"d"}', { displayName: 'e', about: 'b' }, '{"about":"b","name":"n","display_name":"e"}'],
    ['new ones before those that Buzz writes later', '{"name":"n","x":1,"nip05":"i"}', { about: 'a', displayName: 'd' }, '{"display_name":"d","name":"n","x":1,"about":"a","nip05":"i"}'],
    ['what is not ours, to the byte', ' { "10" : 1e400, "b": {"c" : [1, 2]} , "9":12345678901234567890, "about": null }', { about: 'a' }, '{"10":1e400,"b":{"c" : [1, 2]},"9":12345678901234567890,"about":"a"}'],
    ['a member twice', '{"about":"1","about":"2"}', { about: 'a' }, '{"about":"a","about":"a"}'],
    ['text that needs escapes', '{}', { displayName: '"\n😀' }, '{"display_name":"\\"\\n😀"}'],
    ['no object', '[]', { about: 'a' }, 'action_failed'],
    ['no JSON', 'hello', { about: 'a' }, 'action_failed'],
  ])('%s', async (_, before, args, expected) => {
    const made = bench();
    if (before !== undefined) made.relay.keep(profile(before));
    expect(await contentOf(made, args)).toBe(expected);
  });

  it('is merged into the head and nobody else’s', async () => {
    const made = bench();
    made.relay.keep(
      profile('{"a":1}', [], START_SEC - 5), profile('{"b":2}', [], START_SEC - 4),
      STRANGER.sign({ kind: 0, tags: [], content: '{"c":3}', createdAtSec: START_SEC }),
    );
    expect(await contentOf(made, { about: 'x' })).toBe('{"b":2,"about":"x"}');
    const lying = { fetch: () => Promise.resolve({ events: [...made.relay.kept.values()], complete: true }) };
    expect(await set(made, { about: 'x' }, lying)).toMatchObject({ draft: { content: '{"b":2,"about":"x"}' } });
  });
});

describe('tags and stamp', () => {
  const elsewhere: Tag = ['auth', STRANGER.pubkey, '', '0'.repeat(128)];

  it.each<readonly [string, readonly Tag[], Tag | undefined, readonly Tag[]]>([
    ['ours where there was none', [['x', 'y']], ATTESTATION, [['x', 'y'], ATTESTATION]],
    ['ours in the place of another', [elsewhere, ['x', 'y']], ATTESTATION, [['x', 'y'], ATTESTATION]],
    ['what was there, where we have none', [elsewhere, ['x', 'y']], undefined, [elsewhere, ['x', 'y']]],
    [
      'what was there, where ours does not hold for a profile', [ATTESTATION],
      attest(AGENT.pubkey, 'kind=1', OWNER.secretKey, new Uint8Array(32)), [ATTESTATION],
    ],
  ])('the attestation: %s', async (_, before, attestation, expected) => {
    const made = bench();
    made.relay.keep(profile('{}', before));
    const decision = await set(made, undefined, attestation === undefined ? {} : { attestation });
    expect(decision).toMatchObject({ draft: { tags: expected } });
  });

  it('the stamp rises above the head, and does not outrun the far future', async () => {
    const made = bench();
    expect(await set(made)).toMatchObject({ draft: { notBefore: 0 } });
    made.relay.keep(profile('{}', [], START_SEC + 900));
    expect(await set(made)).toMatchObject({ draft: { notBefore: START_SEC + 901 } });
    made.relay.keep(profile('{}', [], START_SEC + 901));
    expect(await set(made)).toMatchObject({ type: 'refuse', code: 'action_failed' });
  });
});

describe('nothing is sent', () => {
  it('where the relay cannot be read, or another change is under way', async () => {
    const made = bench();
    made.relay.keep(profile('{"a":1}'));
    made.relay.readable = false;
    expect(await contentOf(made)).toBe('internal');
    made.relay.readable = true;
    expect(await set(made, undefined, { alone: () => Promise.resolve(false) })).toMatchObject({ code: 'internal' });
    expect(await contentOf(made)).toBe('{"a":1,"display_name":"New"}');
  });

  it('by a session that ends while the profile is read', async () => {
    const { broker, link, relay } = await openBench();
    const { token, sessionId } = link.openSession();
    let open = (): void => undefined;
    relay.gate = new Promise((resolve) => {
      open = resolve;
    });
    const asked = relay.asked.length;
    const answer = post(broker.endpoint, token, requestBytes('p', 'profile.set', { displayName: 'New' }));
    await relay.questions(asked + 1);
    link.closeSession(sessionId);
    open();
    expect(told(await answer)).toBe('failed/unauthenticated');
    expect(relay.sent).toEqual([]);
  });
});

describe('on the relay in the box', () => {
  it('changes made at once are all there, and a replay after a restart changes nothing', async () => {
    const box = await openBox({ identities: [identity(AGENT, { attestation: ATTESTATION })] });
    const owner = await box.outside(OWNER);
    const agent = await box.outside(AGENT);
    const before = AGENT.sign({ kind: 0, tags: [], content: '{"custom":true}', createdAtSec: Math.floor(Date.now() / 1000) });
    expect(await agent.publish(before)).toEqual([true, '']);
    const changes = [{ displayName: 'Worker' }, { about: 'works' }, { picture: 'https://example.org/a.png' }];
    const answers = await Promise.all(changes.map((args, at) => box.act(`p-${at}`, 'profile.set', args)));
    expect(answers.map(told)).toEqual(['succeeded', 'succeeded', 'succeeded']);
    await box.restart();
    for (const [at, args] of changes.entries()) expect(told(await box.act(`p-${at}`, 'profile.set', args))).toBe('succeeded, replayed');
    owner.send(['REQ', 'profile', { kinds: [0], authors: [AGENT.pubkey] }]);
    const { content, tags } = await owner.nextEvent('profile');
    expect(JSON.parse(content)).toEqual({
      custom: true, display_name: 'Worker', about: 'works', picture: 'https://example.org/a.png',
    });
    expect(tags).toEqual([ATTESTATION]);
  });
});
