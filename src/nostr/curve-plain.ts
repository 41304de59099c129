/** The curve in pure JavaScript, for a runtime without WebAssembly. */
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import type { Curve } from './curve-port.ts';

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

  verifyDigest(digest, publicKey, signature) {
    if (digest.length !== 32 || signature.length !== 64 || publicKey.length !== 32) return false;
    return schnorr.verify(signature, digest, publicKey);
  },
};
