/** What keeps a fixture unwritten, and, beside each, what does not. */
import { randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { nsecEncode } from 'nostr-tools/nip19';
import { describe, expect, it } from 'vitest';
import { holdsSecret, KnownSecrets } from '../../src/recording/secrets.ts';
import { agent, owner, person } from '../supervisor/people.ts';

const PEOPLE = new Set([agent.pubkey, owner.pubkey]);
const TOKEN = randomBytes(32).toString('base64url');
const known = new KnownSecrets();
known.tell(TOKEN);
known.tell('short');

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const holds = (text: string): Promise<boolean> => holdsSecret(['harmless', text], PEOPLE, known);

describe('a secret', () => {
  it.each([
    ['an nsec', `look: ${nsecEncode(owner.secretKey)}.`],
    ['an nsec in capitals', nsecEncode(owner.secretKey).toUpperCase()],
    ['an ncryptsec', `ncryptsec1${'q'.repeat(30)}`],
    ['a bunker link', `bunker://${agent.pubkey}?relay=wss%3A%2F%2Fr.example&secret=a`],
    ['a wallet link', `nostr+walletconnect://${agent.pubkey}?relay=r&secret=${'0'.repeat(64)}`],
    ['a link behind others', 'see bunker://a?b,(NostrConnect://c?d=1&SECRET=e)'],
    ['a key in PEM', '-----BEGIN EC PRIVATE KEY-----'],
    ['an API key', 'sk-abcdefgh12345678'],
    ['a bearer token', 'Authorization: Bearer abc.def'],
    ['the secret key of somebody named, in hex', `x${hex(owner.secretKey)}`],
    ['the same in capitals, inside longer hex', `ff${hex(agent.secretKey).toUpperCase()}0`],
    ['a token that is known', `(${TOKEN})`],
    ['the same inside a longer run', `xx${TOKEN}yy`],
  ])('is %s', async (_, text) => {
    expect(await holds(text)).toBe(true);
  });

  it.each([
    ['a pubkey', `${owner.pubkey} and ${agent.pubkey}`],
    ['the secret key of somebody who is not named', hex(person(77).secretKey)],
    ['hex that is no key at all', '0'.repeat(64)],
    ['the form of a header without a token', 'Authorization: Bearer $SKEP_CREDENTIAL" and "Bearer <token>'],
    ['a token with a slip', `${TOKEN.slice(0, -1)}!`],
    ['a short word that was told', 'short'],
    ['a link without a secret', `bunker://${agent.pubkey}?relay=r and secret=none`],
    ['a secret before a link', `secret=bunker://${agent.pubkey}`],
    ['talk of an nsec', 'never paste your nsec1 anywhere'],
  ])('is not %s', async (_, text) => {
    expect(await holds(text)).toBe(false);
  });

  it('is a credential until thousands of later ones were told, and a token of the operator for good', async () => {
    const told = new KnownSecrets();
    const credentials = Array.from({ length: 4_097 }, () => randomBytes(32).toString('base64url'));
    told.tell(TOKEN);
    for (const credential of credentials) told.tellCredential(credential);
    const asked = [TOKEN, credentials[0] ?? '', credentials[1] ?? '', credentials[4_096] ?? ''];
    expect(await Promise.all(asked.map((one) => holdsSecret([one], PEOPLE, told))))
      .toEqual([true, false, true, true]);
  });

  it('is expected of a text with more hex than can be looked through', async () => {
    expect(await holds('ab'.repeat(60_000))).toBe(true);
    expect(await holds(randomBytes(5_000).toString('hex'))).toBe(true);
  });

  it('is looked for without keeping others from going on', async () => {
    const state: { isDone: boolean } = { isDone: false };
    let turns = 0;
    const looking = holds(randomBytes(500).toString('hex')).then((held) => {
      state.isDone = true;
      return held;
    });
    for (; !state.isDone; turns += 1) await setImmediate();
    expect(await looking).toBe(false);
    expect(turns).toBeGreaterThan(20);
  });
});
