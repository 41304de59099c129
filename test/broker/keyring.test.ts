/** The keyring: conversations that both sides read, keys that stay inside, and an end after which there are none. */
import { inspect } from 'node:util';
import * as stranger from 'nostr-tools/nip44';
import { describe, expect, it } from 'vitest';
import { openKeyring } from '../../src/broker/keyring.ts';
import type { Keyring } from '../../src/broker/keyring.ts';
import { pubkey } from '../../src/model/index.ts';
import { conversationKey, engramAddress } from '../../src/nostr/index.ts';
import { systemRandom } from '../../src/system/index.ts';
import { AGENT, OWNER, person, SIBLING, STRANGER } from './people.ts';

function open(...holders: Parameters<typeof openKeyring>[0]): Keyring {
  return openKeyring(holders.length > 0 ? holders : [AGENT], systemRandom);
}

function sealed(keyring: Keyring, text: string, peer = OWNER.pubkey): string {
  const sealing = keyring.seal(AGENT.pubkey, peer, text);
  return sealing.ok ? sealing.payload : expect.fail(sealing.code);
}

describe('a conversation', () => {
  it('is read by a stranger’s client under the peer’s key, and by nobody else', () => {
    const keyring = open(AGENT, SIBLING);
    const payload = sealed(keyring, 'between us');
    const theirs = stranger.getConversationKey(OWNER.secretKey, AGENT.pubkey);
    expect(stranger.decrypt(payload, theirs)).toBe('between us');
    expect(keyring.open(AGENT.pubkey, OWNER.pubkey, payload)).toEqual({ ok: true, plaintext: 'between us' });
    expect(keyring.open(AGENT.pubkey, OWNER.pubkey, stranger.encrypt('and back', theirs))).toMatchObject({ plaintext: 'and back' });
    for (const [one, peer] of [[AGENT, STRANGER], [SIBLING, OWNER]] as const) {
      expect(keyring.open(one.pubkey, peer.pubkey, payload)).toMatchObject({ ok: false, code: 'mac' });
    }
    expect(sealed(keyring, 'between us')).not.toBe(payload);
  });

  it('has the address that the owner derives', () => {
    const theirs = conversationKey(OWNER.secretKey, AGENT.pubkey) ?? expect.fail('no key');
    expect(open().engramAddress(AGENT.pubkey, OWNER.pubkey, 'mem/a')).toBe(engramAddress(theirs, 'mem/a'));
  });

  it('with a peer that is no key is refused', () => {
    const nobody = pubkey('f'.repeat(64));
    const keyring = open();
    expect(keyring.seal(AGENT.pubkey, nobody, 'x')).toMatchObject({ ok: false, code: 'peer' });
    expect(keyring.open(AGENT.pubkey, nobody, 'x')).toMatchObject({ ok: false, code: 'peer' });
    expect(keyring.engramAddress(AGENT.pubkey, nobody, 'core')).toBeUndefined();
  });

  it('is the same after more conversations than are kept', () => {
    const keyring = open(AGENT, SIBLING);
    const first = sealed(keyring, 'early');
    for (const one of [AGENT, SIBLING]) {
      for (let number = 10; number < 210; number += 1) keyring.engramAddress(one.pubkey, person(number).pubkey, 'core');
    }
    expect(keyring.open(AGENT.pubkey, OWNER.pubkey, first)).toMatchObject({ plaintext: 'early' });
  });
});

describe('a mark', () => {
  it('is the same in every ring of that key, and another for other bytes or another key', () => {
    const bytes = Buffer.from('bytes');
    const mark = open().mark(AGENT.pubkey, bytes);
    expect(open(AGENT, SIBLING).mark(AGENT.pubkey, bytes)).toEqual(mark);
    expect(open().mark(AGENT.pubkey, Buffer.from('bytes.'))).not.toEqual(mark);
    expect(open(SIBLING).mark(SIBLING.pubkey, bytes)).not.toEqual(mark);
  });
});

describe('a protected text', () => {
  it('is revealed to its own key alone', () => {
    const [keyring, again, other] = [open(), open(), open(SIBLING)];
    const text = keyring.protect(AGENT.pubkey, 'a secret');
    expect(text).not.toContain('secret');
    expect(again.reveal(AGENT.pubkey, text)).toBe('a secret');
    expect(other.reveal(SIBLING.pubkey, text)).toBeUndefined();
    expect(keyring.reveal(AGENT.pubkey, `${text.slice(0, -4)}AAAA`)).toBeUndefined();
    // It is no message to anybody: not even to oneself.
    expect(keyring.open(AGENT.pubkey, AGENT.pubkey, text)).toMatchObject({ ok: false, code: 'mac' });
  });
});

it('shows no key, and has none when it is closed', () => {
  const keyring = open();
  const payload = sealed(keyring, 'x');
  const shown = inspect(keyring, { depth: 9, showHidden: true });
  expect(shown).not.toContain(Buffer.from(AGENT.secretKey).toString('hex'));
  keyring.close();
  const uses = [
    () => keyring.open(AGENT.pubkey, OWNER.pubkey, payload), () => keyring.seal(AGENT.pubkey, OWNER.pubkey, 'x'),
    () => keyring.engramAddress(AGENT.pubkey, OWNER.pubkey, 'core'), () => keyring.protect(AGENT.pubkey, 'x'),
    () => keyring.reveal(AGENT.pubkey, payload), () => keyring.sign(AGENT.pubkey, AGENT.sign({ tags: [] })),
  ];
  for (const use of uses) expect(use).toThrow('no key');
});
