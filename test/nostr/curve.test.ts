/** Both curves give the same answers, so that it does not matter which of them a runtime can load. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainCurve } from '../../src/nostr/curve-plain.ts';
import { wasmCurve } from '../../src/nostr/curve-wasm.ts';
import * as chosen from '../../src/nostr/curve.ts';

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const FIELD = 0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2fn;

function bytesOf(number: bigint): Uint8Array {
  return Buffer.from(number.toString(16).padStart(64, '0'), 'hex');
}

function hex(bytes: Uint8Array | undefined): string | undefined {
  return bytes && Buffer.from(bytes).toString('hex');
}

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
const digest = bytesOf(0x42n);
const secretKey = bytesOf(7n);
const aux = bytesOf(0n);

describe.each([['wasm', wasmCurve], ['plain', plainCurve]])('%s', (_, curve) => {
  // BIP-340, test vector 0.
  it('signs as the standard says', () => {
    const [key, none] = [bytesOf(3n), new Uint8Array(32)];
    expect(hex(curve.publicKeyOf(key))).toBe('f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9');
    expect(hex(curve.signDigest(none, key, none))).toBe(
      'e907831f80848d1069a5371b402410364bdf1c5f8307b0084c55f1ce2dca821525f66a4a85ea8b71e482a74f382d2ce5ebeee8fdb2172f477df4900d310536c0',
    );
  });

  it('knows a key from what is none', () => {
    expect([0n, ORDER, ORDER + 1n].map((number) => curve.publicKeyOf(bytesOf(number)))).toEqual([undefined, undefined, undefined]);
    expect(curve.publicKeyOf(bytesOf(ORDER - 1n))).toHaveLength(32);
    for (const length of [0, 31, 33]) expect(curve.publicKeyOf(new Uint8Array(length).fill(1))).toBeUndefined();
  });

  it('knows a point from what is none', () => {
    const point = curve.publicKeyOf(secretKey) ?? new Uint8Array();
    expect(curve.isXOnly(point)).toBe(true);
    for (const wrong of [bytesOf(0n), bytesOf(FIELD), bytesOf(5n), point.slice(1), new Uint8Array(33)]) expect(curve.isXOnly(wrong)).toBe(false);
  });

  it('shares the same x from either side, and none with what is no key', () => {
    const [one, other] = [bytesOf(7n), bytesOf(11n)];
    const [ours, theirs] = [curve.publicKeyOf(one) ?? new Uint8Array(), curve.publicKeyOf(other) ?? new Uint8Array()];
    expect(hex(curve.sharedX(one, theirs))).toBe(hex(curve.sharedX(other, ours)));
    // One times a point is the point.
    expect(hex(curve.sharedX(bytesOf(1n), theirs))).toBe(hex(theirs));
    for (const wrong of [bytesOf(0n), bytesOf(ORDER), one.slice(1)]) expect(curve.sharedX(wrong, theirs)).toBeUndefined();
    for (const wrong of [bytesOf(0n), bytesOf(FIELD), bytesOf(5n), theirs.slice(1)]) expect(curve.sharedX(one, wrong)).toBeUndefined();
  });

  it('never throws for what is no signature', () => {
    const point = curve.publicKeyOf(secretKey) ?? new Uint8Array();
    const signature = curve.signDigest(digest, secretKey, aux);
    expect(curve.verifyDigest(digest, point, signature)).toBe(true);
    for (let at = 0; at < 64; at += 7) {
      const changed = Uint8Array.from(signature, (byte, index) => (index === at ? byte ^ 1 : byte));
      expect(curve.verifyDigest(digest, point, changed)).toBe(false);
    }
    const halves = [bytesOf(ORDER), bytesOf(ORDER - 1n), bytesOf(FIELD), signature.slice(0, 32)];
    for (const [first, second] of halves.flatMap((one) => halves.map((other) => [one, other] as const))) {
      expect(curve.verifyDigest(digest, point, Buffer.concat([first, second]))).toBe(false);
    }
    for (const wrong of [new Uint8Array(64), new Uint8Array(64).fill(0xff), new Uint8Array(0), new Uint8Array(65)]) {
      expect(curve.verifyDigest(digest, point, wrong)).toBe(false);
    }
    for (const wrong of [bytesOf(0n), bytesOf(5n), bytesOf(FIELD), new Uint8Array(0)]) expect(curve.verifyDigest(digest, wrong, signature)).toBe(false);
    expect(curve.verifyDigest(digest.slice(1), point, signature)).toBe(false);
  });
});

describe('both', () => {
  it('give the same keys, points and signatures', () => {
    fc.assert(fc.property(bytes32, bytes32, bytes32, (message, key, random) => {
      expect(plainCurve.isXOnly(message)).toBe(wasmCurve.isXOnly(message));
      expect(hex(plainCurve.publicKeyOf(key))).toBe(hex(wasmCurve.publicKeyOf(key)));
      const author = wasmCurve.publicKeyOf(key);
      if (author === undefined) return;
      const signature = wasmCurve.signDigest(message, key, random);
      expect(hex(plainCurve.signDigest(message, key, random))).toBe(hex(signature));
      expect(plainCurve.verifyDigest(message, author, signature)).toBe(true);
      expect(hex(plainCurve.sharedX(key, message))).toBe(hex(wasmCurve.sharedX(key, message)));
      expect(hex(plainCurve.sharedX(key, author))).toBe(hex(wasmCurve.sharedX(key, author)));
    }), { numRuns: 25 });
  });

  it('are chosen by what the runtime has: here the fast one', () => {
    expect(chosen.verifyDigest).toBe(wasmCurve.verifyDigest);
  });
});
