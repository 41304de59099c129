/** NIP-44 v2 against the published vectors and against nostr-tools, and whatever else may come as a payload. */
import { createCipheriv, createHmac } from 'node:crypto';
import * as fc from 'fast-check';
import * as stranger from 'nostr-tools/nip44';
import { describe, expect, it } from 'vitest';
import { pubkey } from '../../src/model/index.ts';
import { conversationKey, NIP44_MAX_PLAINTEXT_BYTES, openText, publicKeyOf, sealText } from '../../src/nostr/index.ts';

function bytesOf(hex: string): Uint8Array {
  return new Uint8Array(Buffer.from(hex.padStart(64, '0'), 'hex'));
}

function hex(bytes: Uint8Array | undefined): string | undefined {
  return bytes && Buffer.from(bytes).toString('hex');
}

function keyBetween(one: string, other: string): Uint8Array {
  const peer = pubkey(hex(publicKeyOf(bytesOf(other))) ?? '');
  return conversationKey(bytesOf(one), peer) ?? expect.fail('no key');
}

const KEY = keyBetween('1', '2');
const NONCE = bytesOf('1');

function sealed(plaintext: string, key = KEY, nonce = NONCE): string {
  const sealing = sealText(plaintext, key, nonce);
  return sealing.ok ? sealing.payload : expect.fail(sealing.detail);
}

/** The text, or the code of the refusal. */
function opened(payload: string, key = KEY): string {
  const opening = openText(payload, key);
  return opening.ok ? `text ${opening.plaintext}` : opening.code;
}

describe('the published vectors', () => {
  it.each([
    ['315e59ff51cb9209768cf7da80791ddcaae56ac9775eb25b6dee1234bc5d2268', 'c2f9d9948dc8c7c38321e4b85c8558872eafa0641cd269db76848a6073e69133', '3dfef0ce2a4d80a25e7a328accf73448ef67096f65f79588e358d9a0eb9013f1'],
    ['1', 'c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5', 'c41c775356fd92eadc63ff5a0dc1da211b268cbea22316767095b2871ea1412d'],
  ])('conversation key of %s', (secret, peer, expected) => {
    expect(hex(conversationKey(bytesOf(secret), pubkey(peer)))).toBe(expected);
  });

  it.each([
    ['the order of the curve', 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141', '1234567890abcdef1234567890abcdef1234567890abcdef1234567890abcdef'],
    ['zero', '0', '1234567890abcdef1234567890abcdef1234567890abcdef1234567890abcdef'],
    ['beyond the order', 'ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff', '1234567890abcdef1234567890abcdef1234567890abcdef1234567890abcdef'],
    ['a peer that is no point', '2', '1234567890abcdef1234567890abcdef1234567890abcdef1234567890abcdef'],
    ['a peer of zero', '1', '0000000000000000000000000000000000000000000000000000000000000000'],
    ['a peer beyond the field', '1', 'ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff'],
  ])('no conversation key from %s', (_, secret, peer) => {
    expect(conversationKey(bytesOf(secret), pubkey(peer))).toBeUndefined();
  });

  it.each([
    ['1', '2', '1', 'a', 'AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABee0G5VSK0/9YypIObAtDKfYEAjD35uVkHyB0F4DwrcNaCXlCWZKaArsGrY6M9wnuTMxWfp1RTN9Xga8no+kF5Vsb'],
    ['2', '1', 'f00000000000000000000000000000f00000000000000000000000000000000f', '🍕🫃', 'AvAAAAAAAAAAAAAAAAAAAPAAAAAAAAAAAAAAAAAAAAAPSKSK6is9ngkX2+cSq85Th16oRTISAOfhStnixqZziKMDvB0QQzgFZdjLTPicCJaV8nDITO+QfaQ61+KbWQIOO2Yj'],
  ])('from %s to %s', (one, other, nonce, plaintext, payload) => {
    const key = keyBetween(one, other);
    expect(key).toEqual(keyBetween(other, one));
    expect(sealed(plaintext, key, bytesOf(nonce))).toBe(payload);
    expect(opened(payload, key)).toBe(`text ${plaintext}`);
  });

  it('padded lengths', () => {
    const lengths = [
      [16, 32], [32, 32], [33, 64], [37, 64], [45, 64], [49, 64], [64, 64], [65, 96], [100, 128], [111, 128],
      [200, 224], [250, 256], [320, 320], [383, 384], [384, 384], [400, 448], [500, 512], [512, 512], [515, 640],
      [700, 768], [800, 896], [900, 1024], [1020, 1024],
    ];
    const found = lengths.map(([size = 0]) => [size, Buffer.from(sealed('x'.repeat(size)), 'base64').length - 67]);
    expect(found).toEqual(lengths);
  });
});

describe('nostr-tools', () => {
  const SIZES = [
    1, 2, 31, 32, 33, 255, 256, 257, 4_095, 4_096, 4_097, 65_407, 65_408, 65_409, 65_534, 65_535, 65_536, 65_537,
    131_072, 218_453,
  ];

  it.each(SIZES)('gives the very same payload for %d bytes, and reads ours', (size) => {
    const plaintext = 'é'.repeat(Math.floor(size / 2)) + 'x'.repeat(size % 2);
    const payload = sealed(plaintext);
    expect(payload === stranger.encrypt(plaintext, KEY, NONCE)).toBe(true);
    expect(stranger.decrypt(payload, KEY) === plaintext).toBe(true);
    expect(opened(payload) === `text ${plaintext}`).toBe(true);
  });

  it('agrees on any text between any keys', () => {
    const secret = fc.uint8Array({ minLength: 32, maxLength: 32 }).filter((key) => publicKeyOf(key) !== undefined);
    const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 600 }).filter((one) => one.isWellFormed());
    fc.assert(fc.property(secret, secret, fc.uint8Array({ minLength: 32, maxLength: 32 }), text, (one, other, nonce, plaintext) => {
      const peer = pubkey(hex(publicKeyOf(other)) ?? '');
      const key = conversationKey(one, peer) ?? expect.fail('no key');
      expect(hex(key)).toBe(hex(stranger.getConversationKey(one, peer)));
      const payload = sealed(plaintext, key, nonce);
      expect(payload).toBe(stranger.encrypt(plaintext, key, nonce));
      expect(opened(payload, key)).toBe(`text ${plaintext}`);
    }), { numRuns: 100 });
  });

  it('keeps a byte order mark that it would lose', () => {
    expect(opened(sealed('\ufeffa'))).toBe('text \ufeffa');
  });
});

describe('a payload that is none', () => {
  const good = sealed('hello');
  const bytes = Buffer.from(good, 'base64');

  /** A payload with a true MAC and these padded bytes, as only a holder of the key can make it. */
  function forged(padded: Uint8Array): string {
    let [block, keys] = [Buffer.alloc(0), Buffer.alloc(0)];
    for (const count of [1, 2, 3]) {
      block = createHmac('sha256', KEY).update(block).update(NONCE).update(Uint8Array.of(count)).digest();
      keys = Buffer.concat([keys, block]);
    }
    const iv = Buffer.concat([Buffer.alloc(4), keys.subarray(32, 44)]);
    const ciphertext = createCipheriv('chacha20', keys.subarray(0, 32), iv).update(padded);
    const mac = createHmac('sha256', keys.subarray(44, 76)).update(NONCE).update(ciphertext).digest();
    return Buffer.concat([Uint8Array.of(2), NONCE, ciphertext, mac]).toString('base64');
  }

  it.each([
    ['a future version', `#${good}`, 'version'],
    ['nothing', '', 'payload'],
    ['a sign', '#', 'version'],
    ['one short of the shortest', good.slice(0, 131), 'payload'],
    ['no base64', good.replace(/.$/, '!'), 'payload'],
    ['another alphabet', good.replaceAll('/', '_').replaceAll('+', '-'), 'payload'],
    ['white space in it', `${good.slice(0, 50)}\n${good.slice(50)}`, 'payload'],
    ['version 0', flipped(0, 2), 'version'],
    ['version 1', flipped(0, 3), 'version'],
    ['a changed nonce', flipped(1), 'mac'],
    ['a changed ciphertext', flipped(33), 'mac'],
    ['a changed MAC', flipped(bytes.length - 1), 'mac'],
    ['bytes cut off', Buffer.concat([bytes.subarray(0, 99)]).toString('base64').padEnd(136, 'A'), 'mac'],
    ['too long', 'A'.repeat(NIP44_MAX_PLAINTEXT_BYTES * 2), 'payload'],
  ])('%s', (_, payload, code) => {
    expect(opened(payload)).toBe(code);
  });

  it('another key', () => {
    expect(opened(good, keyBetween('1', '3'))).toBe('mac');
    expect(opened(good)).toBe('text hello');
  });

  it.each([
    ['a length of zero', [0, 0], 'padding'],
    ['a length beyond its text', [0, 33], 'padding'],
    ['a long prefix for a short text', [0, 0, 0, 0, 0, 5], 'padding'],
    ['a long prefix beyond its text', [0, 0, 0, 1, 0, 0], 'padding'],
    ['bytes that are no UTF-8', [0, 1, 0xff], 'text'],
    ['the control', [0, 1, 0x61], 'text a'],
  ])('%s, under a true MAC', (_, start, code) => {
    const padded = new Uint8Array(34);
    padded.set(start);
    expect(opened(forged(padded))).toBe(code);
  });

  it('has one spelling: no other text of any length decodes to it', () => {
    for (const plaintext of ['x', 'x'.repeat(40), 'x'.repeat(70)]) {
      const payload = sealed(plaintext);
      const [bare, pad] = [payload.replace(/=+$/, ''), payload.slice(payload.replace(/=+$/, '').length)];
      const spare = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
      const next = spare[(spare.indexOf(bare.slice(-1)) + 1) % 64] ?? '';
      const others = [
        `${bare}=${pad}`, `${payload}=`, `${payload}====`, `${payload}AAAA`, `${bare.slice(0, 8)}=${bare.slice(8)}${pad}`,
        `${bare.slice(0, -1)}${next}${pad}`, `${payload} `, `\n${payload}`, `${bare.slice(0, 8)}\u0100${bare.slice(8)}${pad}`,
        ...(pad === '' ? [] : [bare, `${bare.slice(0, -4)}====${bare.slice(-4)}${pad}`]),
      ];
      for (const other of others) expect(opened(other)).toMatch(/^(payload|mac)$/);
      // Spare bits of the last character are no second spelling.
      if (pad !== '') expect(opened(`${bare.slice(0, -1)}${next}${pad}`)).toBe('payload');
      expect(opened(payload)).toBe(`text ${plaintext}`);
    }
  });

  it('any flipped bit is noticed, and any text is answered', () => {
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      expect(opened(flipped(bit >> 3, 1 << (bit & 7)))).toMatch(/^(version|mac)$/);
    }
    fc.assert(fc.property(fc.oneof(fc.string(), fc.base64String({ minLength: 132, maxLength: 400 })), (text) => {
      expect(openText(text, KEY).ok).toBe(false);
    }));
  });

  function flipped(at: number, bits = 1): string {
    return Buffer.from(bytes.map((byte, index) => (index === at ? byte ^ bits : byte))).toString('base64');
  }
});

describe('a text that is not sealed', () => {
  it.each([
    ['none at all', ''],
    ['an unpaired surrogate', 'a\ud800'],
    ['one byte too many', 'x'.repeat(NIP44_MAX_PLAINTEXT_BYTES + 1)],
  ])('%s', (_, plaintext) => {
    expect(sealText(plaintext, KEY, NONCE)).toMatchObject({ ok: false, code: 'plaintext' });
  });

  it('a nonce of another length is a bug', () => {
    expect(() => sealText('a', KEY, new Uint8Array(31))).toThrow(TypeError);
  });
});
