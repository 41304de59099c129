/** The curve by libsecp256k1, compiled to WebAssembly. */
import * as secp from 'tiny-secp256k1';
import type { Curve } from './curve-port.ts';

const ORDER = Buffer.from('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141', 'hex');

export const wasmCurve: Curve = {
  publicKeyOf(secretKey) {
    if (secretKey.length !== 32 || !secp.isPrivate(secretKey)) return undefined;
    return secp.xOnlyPointFromScalar(secretKey);
  },

  isXOnly: (bytes) => bytes.length === 32 && secp.isXOnlyPoint(bytes),

  signDigest: (digest, secretKey, aux) => secp.signSchnorr(digest, secretKey, aux),

  verifyDigest(digest, publicKey, signature) {
    if (digest.length !== 32 || signature.length !== 64 || !wasmCurve.isXOnly(publicKey)) return false;
    // The package throws for a half that is not below the order, and a stranger may send one.
    if (!isBelowOrder(signature.subarray(0, 32)) || !isBelowOrder(signature.subarray(32))) return false;
    return secp.verifySchnorr(digest, publicKey, signature);
  },
};

function isBelowOrder(half: Uint8Array): boolean {
  return Buffer.compare(half, ORDER) < 0;
}
