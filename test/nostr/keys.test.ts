import { nsecEncode } from 'nostr-tools/nip19';
import { describe, expect, it } from 'vitest';
import { pubkey } from '../../src/model/index.ts';
import { newSecretKey, parsePubkey, parseSecretKey, publicKeyOf, toNpub } from '../../src/nostr/index.ts';

const secret = new Uint8Array(32).fill(3);
const hexSecret = Buffer.from(secret).toString('hex');
const key = pubkey(Buffer.from(publicKeyOf(secret) ?? []).toString('hex'));
const nsec = nsecEncode(secret);

describe('parsePubkey', () => {
  it.each([key, key.toUpperCase(), ` ${key}\n`, toNpub(key), toNpub(key).toUpperCase()])('takes %s', (text) => {
    expect(parsePubkey(text)).toEqual({ ok: true, pubkey: key });
  });

  it.each([
    ['63 characters', key.slice(1), '63 hex characters'],
    ['a text', 'Alice', '"Alice"'],
    ['no point of the curve', 'f'.repeat(64), '64 hex characters'],
    ['a broken npub', `${toNpub(key).slice(0, -1)}q`, 'found "npub1'],
    ['mixed case (BIP-173)', `N${toNpub(key).slice(1)}`, 'found both'],
    ['nothing', '', 'found ""'],
  ])('refuses %s and says what it found', (_, text, found) => {
    expect(parsePubkey(text)).toMatchObject({ ok: false, detail: expect.stringContaining(found) });
  });

  it('never repeats a secret key', () => {
    const refused = parsePubkey(nsec);
    expect(refused).toMatchObject({ ok: false, detail: expect.stringContaining('found a secret key') });
    expect(JSON.stringify(refused)).not.toContain(nsec.slice(5, 20));
    expect(JSON.stringify(parsePubkey(`${hexSecret}0`))).not.toContain(hexSecret.slice(0, 8));
  });
});

describe('parseSecretKey', () => {
  it.each([nsec, `${nsec}\r\n`, `\uFEFF${hexSecret}\n`, hexSecret.toUpperCase()])('takes an nsec or hex', (text) => {
    const parsed = parseSecretKey(text);
    expect(parsed).toMatchObject({ ok: true, pubkey: key });
    expect(parsed.ok && [...parsed.secretKey]).toEqual([...secret]);
  });

  it.each([toNpub(key), `N${nsec.slice(1)}`, hexSecret.slice(1), '0'.repeat(64), 'f'.repeat(64), `${nsec}x`, ''])('refuses the rest, silent about its text', (text) => {
    const parsed = parseSecretKey(text);
    expect(parsed.ok).toBe(false);
    if (text.length > 8) expect(JSON.stringify(parsed)).not.toContain(text.slice(0, 16));
  });
});

describe('newSecretKey', () => {
  it('passes over a draw that is no key', () => {
    const draws = [new Uint8Array(32), new Uint8Array(32).fill(255), secret];
    const made = newSecretKey({ bytes: () => draws.shift() ?? secret, fraction: () => 0 });
    expect({ ...made, secretKey: [...made.secretKey], left: draws.length }).toEqual({ secretKey: [...secret], pubkey: key, left: 0 });
  });
});
