import { describe, expect, it } from 'vitest';
import { seconds } from '../../src/model/index.ts';
import { attest, signEvent } from '../../src/nostr/index.ts';
import type { Tag, VerifiedEvent } from '../../src/nostr/index.ts';
import { Directory } from '../../src/supervisor/directory.ts';
import { fakeLink } from './fake-link.ts';
import { HandClock } from './hand-clock.ts';
import { agent, channel, friend, owner, sibling } from './people.ts';
import type { Person } from './people.ts';

const AUX = new Uint8Array(32);
const FIVE_MINUTES_MS = 300_000;

function profile(of: Person, content: string, tags: readonly Tag[] = [], at = 1): VerifiedEvent {
  return signEvent({ created_at: seconds(at), kind: 0, tags, content }, of.secretKey, AUX);
}

function metadata(tags: readonly Tag[], at = 1): VerifiedEvent {
  return signEvent({ created_at: seconds(at), kind: 39_000, tags: [['d', channel], ...tags], content: '' }, owner.secretKey, AUX);
}

function open(stored: readonly VerifiedEvent[], own = new Map()) {
  const link = fakeLink(stored);
  const clock = new HandClock();
  return { link, clock, directory: new Directory(link, clock, own) };
}

describe('profiles', () => {
  it('asks once for all, and remembers who is there and who is not', async () => {
    const { link, clock, directory } = open([profile(owner, '{"display_name":"Olga","nip05":"o@x"}')]);
    const expected = new Map<string, object>([[owner.pubkey, { displayName: 'Olga', nip05: 'o@x', isAgent: false }], [friend.pubkey, { isAgent: false }]]);
    expect(await directory.profiles([owner.pubkey, friend.pubkey])).toEqual({ facts: expected, answered: true });
    expect(await directory.profiles([friend.pubkey, owner.pubkey])).toEqual({ facts: expected, answered: true });
    expect(link.asked).toHaveLength(1);
    clock.push(FIVE_MINUTES_MS + 1);
    await directory.profiles([owner.pubkey]);
    expect(link.asked).toHaveLength(2);
  });

  it.each([
    ['{"name":"n"}', { displayName: 'n', isAgent: false }],
    ['{"display_name":"d","name":"n"}', { displayName: 'd', isAgent: false }],
    ['{"display_name":7}', { isAgent: false }],
    ['not json', { isAgent: false }],
    ['[]', { isAgent: false }],
  ])('reads %s', async (content, facts) => {
    const { directory } = open([profile(owner, content)]);
    expect((await directory.profiles([owner.pubkey])).facts.get(owner.pubkey)).toEqual(facts);
  });

  it('takes the newest', async () => {
    const { directory } = open([profile(owner, '{"name":"old"}', [], 1), profile(owner, '{"name":"new"}', [], 2)]);
    expect((await directory.profiles([owner.pubkey])).facts.get(owner.pubkey)).toMatchObject({ displayName: 'new' });
  });

  it('believes an attestation that verifies, and no other', async () => {
    const good = attest(sibling.pubkey, '', owner.secretKey, AUX);
    const stolen = attest(agent.pubkey, '', owner.secretKey, AUX);
    const { directory } = open([profile(sibling, '{}', [good]), profile(friend, '{}', [stolen])]);
    const { facts: known } = await directory.profiles([sibling.pubkey, friend.pubkey]);
    expect(known.get(sibling.pubkey)).toEqual({ isAgent: true, owner: owner.pubkey });
    expect(known.get(friend.pubkey)).toEqual({ isAgent: false });
  });

  it('knows our own agents without proof', async () => {
    const own = new Map([[sibling.pubkey, { displayName: 'helper', isAgent: true, owner: owner.pubkey }]]);
    const { link, directory } = open([], own);
    expect((await directory.profiles([sibling.pubkey])).facts.get(sibling.pubkey)).toEqual({ displayName: 'helper', isAgent: true, owner: owner.pubkey });
    link.stored.push(profile(sibling, '{"name":"Self"}'));
    const again = new Directory(link, new HandClock(), own);
    expect((await again.profiles([sibling.pubkey])).facts.get(sibling.pubkey)).toEqual({ displayName: 'Self', isAgent: true, owner: owner.pubkey });
  });

  it('says that nobody answered, keeps what it knew, and asks again', async () => {
    const { link, clock, directory } = open([profile(owner, '{"name":"n"}')]);
    await directory.profiles([owner.pubkey]);
    clock.push(FIVE_MINUTES_MS + 1);
    link.answers = false;
    const unanswered = await directory.profiles([owner.pubkey]);
    expect(unanswered.answered).toBe(false);
    expect(unanswered.facts.get(owner.pubkey)).toMatchObject({ displayName: 'n' });
    link.answers = true;
    expect((await directory.profiles([owner.pubkey])).answered).toBe(true);
    expect(link.asked).toHaveLength(3);
  });
});

describe('channel', () => {
  it.each<readonly [string, readonly Tag[], object]>([
    ['a stream', [['name', 'garden'], ['about', 'bees']], { name: 'garden', type: 'stream', description: 'bees' }],
    ['a hidden one', [['name', ''], ['hidden']], { name: '', type: 'dm' }],
    ['a dm', [['t', 'dm']], { name: '', type: 'dm' }],
    ['a forum', [['name', 'f'], ['t', 'forum']], { name: 'f', type: 'forum' }],
  ])('reads %s', async (_, tags, facts) => {
    const { directory } = open([metadata(tags)]);
    expect(await directory.channel(channel)).toEqual({ facts, answered: true });
  });

  it('is not known when nobody says so, and is asked again soon', async () => {
    const { link, clock, directory } = open([]);
    expect(await directory.channel(channel)).toEqual({ facts: undefined, answered: true });
    await directory.channel(channel);
    expect(link.asked).toHaveLength(1);
    link.stored.push(metadata([['name', 'late']]));
    clock.push(5_001);
    expect(await directory.channel(channel)).toMatchObject({ facts: { name: 'late' } });
  });

  it('is not known when nobody answered, which is said and asked again at once', async () => {
    const { link, directory } = open([metadata([['name', 'c']])]);
    link.answers = false;
    expect(await directory.channel(channel)).toEqual({ facts: undefined, answered: false });
    link.answers = true;
    expect(await directory.channel(channel)).toMatchObject({ facts: { name: 'c' }, answered: true });
  });

  it('is asked again when it is forgotten', async () => {
    const { link, directory } = open([metadata([['name', 'old']])]);
    await directory.channel(channel);
    link.stored.push(metadata([['name', 'new']], 2));
    expect(await directory.channel(channel)).toMatchObject({ facts: { name: 'old' } });
    directory.forgetChannel(channel);
    expect(await directory.channel(channel)).toMatchObject({ facts: { name: 'new' } });
  });
});
