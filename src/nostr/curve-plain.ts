/** The curve in pure JavaScript, for a runtime without WebAssembly. */
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import type { Curve } from './curve-port.ts';

/** SEC 1: the first byte of a compressed point whose y is even. */
const EVEN = 0x02;

export const plainCurve: Curve = {
  publicKeyOf(secretKey) {
    if (secretKey.length !== 32 || !secp256k1.utils.isValidSecretKey(secretKey)) return undefined;
    return schnorr.getPublicKey(secretKey);
  },

  isXOnly(bytes) {
    if (bytes.length !== 32) return false;
    try {
      schnorr.utils.lift_x(BigInt(`0x${Buffer.from(bytes).toString('hex')}`));
      return true;
    } catch {
      return false;
    }
  },

  signDigest: (digest, secretKey, aux) => schnorr.sign(digest, secretKey, aux),

  sharedX(secretKey, publicKey) {
    if (secretKey.length !== 32 || !secp256k1.utils.isValidSecretKey(secretKey)) return undefined;
    if (!plainCurve.isXOnly(publicKey)) return undefined;
    return secp256k1.getSharedSecret(secretKey, Uint8Array.of(EVEN, ...publicKey)).subarray(1);
  },

  verifyDigest(digest, publicKey, signature) {
    if (digest.length !== 32 || signature.length !== 64 || publicKey.length !== 32) return false;
    return schnorr.verify(signature, digest, publicKey);
  },
};
