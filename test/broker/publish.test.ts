/** The keyring and what is signed with it: messages, and the answer to a relay's challenge. */
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { openKeyring } from '../../src/broker/keyring.ts';
import { authSigner, openPublisher } from '../../src/broker/publish.ts';
import { seconds } from '../../src/model/index.ts';
import { attest, attestationIn, verifyEvent } from '../../src/nostr/index.ts';
import { systemRandom } from '../../src/system/index.ts';
import { HeldClock } from './clock.ts';
import { FakeRelay } from './fake-relay.ts';
import { AGENT, CHANNEL, ELSEWHERE, OWNER, person, SIBLING, START_SEC, STRANGER } from './people.ts';
import type { Person } from './people.ts';

const DRAFT = { kind: 9, tags: [], content: 'ok' };

describe('the keyring', () => {
  it('signs as the keys it holds, with fresh randomness, and as no other', () => {
    const keyring = openKeyring([AGENT, SIBLING], systemRandom);
    const template = { ...DRAFT, created_at: AGENT.sign(DRAFT).created_at };
    const [one, two] = [keyring.sign(AGENT.pubkey, template), keyring.sign(AGENT.pubkey, template)];
    expect([verifyEvent(one).ok, one.pubkey, one.id === two.id, one.sig === two.sig]).toEqual([
      true,
      AGENT.pubkey,
      true,
      false,
    ]);
    expect(keyring.sign(SIBLING.pubkey, template).pubkey).toBe(SIBLING.pubkey);
    expect(() => keyring.sign(OWNER.pubkey, template)).toThrow('no key');
  });

  it('shows no key and forgets them at its end', () => {
    const keyring = openKeyring([AGENT], systemRandom);
    expect(inspect(keyring, { depth: 9, showHidden: true })).not.toMatch(/Uint8Array|Map/);
    keyring.close();
    expect(() => keyring.sign(AGENT.pubkey, AGENT.sign(DRAFT))).toThrow('no key');
    expect(AGENT.secretKey.some((byte) => byte !== 0)).toBe(true);
  });

  it("takes no key that is not its pubkey's", () => {
    const wrong = { pubkey: AGENT.pubkey, secretKey: SIBLING.secretKey };
    expect(() => openKeyring([wrong], systemRandom)).toThrow('not the key of this pubkey');
    expect(() => openKeyring([{ ...wrong, secretKey: new Uint8Array(32) }], systemRandom)).toThrow('not the key');
  });
});

describe('a publisher', () => {
  it('never makes one event of two operations that say the same in one second', () => {
    const clock = new HeldClock();
    const keyring = openKeyring([AGENT], systemRandom);
    const publisher = openPublisher({ pubkey: AGENT.pubkey, keyring, clock, upstream: new FakeRelay().open() });
    const times = [DRAFT, DRAFT, { ...DRAFT, content: 'other' }, DRAFT].map(
      (draft) => publisher.compose(draft).created_at - START_SEC,
    );
    expect(times).toEqual([0, 1, 0, 2]);
    clock.push(2_000);
    expect(publisher.compose(DRAFT).created_at - START_SEC).toBe(3);
    clock.push(2_000);
    expect(publisher.compose(DRAFT).created_at - START_SEC).toBe(4);
  });

  it('stamps what no relay keeps with the moment it is of, however often it says the same', () => {
    const keyring = openKeyring([AGENT], systemRandom);
    const publisher = openPublisher({ pubkey: AGENT.pubkey, keyring, clock: new HeldClock(), upstream: new FakeRelay().open() });
    const times = Array.from({ length: 100 }, () => publisher.compose({ ...DRAFT, kind: 20_002, content: '' }).created_at - START_SEC);
    expect(new Set(times)).toEqual(new Set([0]));
  });

  it.each([
    ['does not have', { kind: 9, kept: false, readable: true, status: 'rejected' }],
    ['has all the same', { kind: 9, kept: true, readable: true, status: 'accepted' }],
    ['cannot be asked about', { kind: 9, kept: true, readable: false, status: 'rejected' }],
    ['does not keep', { kind: 20_001, kept: true, readable: true, status: 'rejected' }],
  ] as const)('looks after a no to an event that the relay %s', async (_, { kind, kept, readable, status }) => {
    const relay = new FakeRelay();
    const event = AGENT.sign({ ...DRAFT, kind });
    relay.answers.push({ reject: 'error: could not save' });
    relay.readable = readable;
    if (kept) relay.keep(event);
    const keyring = openKeyring([AGENT], systemRandom);
    const publisher = openPublisher({ pubkey: AGENT.pubkey, keyring, clock: new HeldClock(), upstream: relay.open() });
    expect(await publisher.publish(event)).toMatchObject({ status, eventId: event.id });
    expect(relay.asked).toHaveLength(kind === 9 ? 1 : 0);
  });

  describe('looks for a put-user, which a relay need not keep,', () => {
    const RELAY = person(9);
    const putUser = AGENT.sign({ kind: 9_000, tags: [['h', CHANNEL], ['p', SIBLING.pubkey]] });
    const list = (author: Person, channel: string, ...users: readonly Person[]) =>
      author.sign({ kind: 39_002, tags: [['d', channel], ...users.map(({ pubkey }) => ['p', pubkey])] });

    it.each([
      ['by its id', [putUser], 'found'],
      ["in the relay's list of members", [list(RELAY, CHANNEL, AGENT, SIBLING)], 'found'],
      ['and not in the list of another channel', [list(RELAY, ELSEWHERE, AGENT, SIBLING)], 'absent'],
      ['and not in a list without the user', [list(RELAY, CHANNEL, AGENT)], 'absent'],
      ['and not in a list of somebody else', [list(STRANGER, CHANNEL, SIBLING)], 'absent'],
    ] as const)('%s', async (_, kept, sighting) => {
      const relay = new FakeRelay();
      relay.keep(...kept);
      const { pubkey } = AGENT;
      const keyring = openKeyring([AGENT], systemRandom);
      const relaySelf = () => Promise.resolve(RELAY.pubkey);
      const publisher = openPublisher({ pubkey, keyring, clock: new HeldClock(), upstream: relay.open(), relaySelf });
      expect(await publisher.find(putUser)).toBe(sighting);
      relay.readable = false;
      expect(await publisher.find(putUser)).toBe('unreadable');
    });
  });
});

describe('an event that replaces others', () => {
  it('is stamped above what was read and above all that were composed before it', () => {
    const clock = new HeldClock();
    const keyring = openKeyring([AGENT], systemRandom);
    const publisher = openPublisher({ pubkey: AGENT.pubkey, keyring, clock, upstream: new FakeRelay().open() });
    const record = (d: string, notBeforeSec: number, content: string): number =>
      publisher.compose({ kind: 30_174, tags: [['d', d]], content, notBefore: seconds(START_SEC + notBeforeSec) }).created_at - START_SEC;
    expect([record('a', -9, '1'), record('a', -9, '2'), record('b', -9, '3'), record('a', 9, '4'), record('a', -9, '5')]).toEqual([0, 1, 0, 9, 10]);
    clock.push(5_000);
    expect([record('a', -9, '6'), record('b', -9, '7')]).toEqual([11, 5]);
    clock.push(60_000);
    expect(record('a', -9, '8')).toBe(65);
  });
});

describe('the answer to a challenge', () => {
  const keyring = openKeyring([AGENT], systemRandom);

  it('names relay and challenge, and carries the attestation where there is one', () => {
    const attestation = attest(AGENT.pubkey, 'kind=22242', OWNER.secretKey, systemRandom.bytes(32));
    const sign = authSigner({ pubkey: AGENT.pubkey, keyring, clock: new HeldClock(), attestation });
    const event = sign('a challenge', 'wss://relay.example');
    expect(event).toMatchObject({ kind: 22_242, content: '', created_at: START_SEC });
    expect(event.tags).toEqual([['relay', 'wss://relay.example'], ['challenge', 'a challenge'], attestation]);
    expect(attestationIn(event.tags, event.pubkey, event)).toMatchObject({
      ok: true,
      attestation: { owner: OWNER.pubkey },
    });
    const plain = authSigner({ pubkey: AGENT.pubkey, keyring, clock: new HeldClock() })(
      'a challenge',
      'wss://relay.example',
    );
    expect(plain.tags).toHaveLength(2);
  });
});
