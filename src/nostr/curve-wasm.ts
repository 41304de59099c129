/** The curve by libsecp256k1, compiled to WebAssembly. */
import * as secp from 'tiny-secp256k1';
import type { Curve } from './curve-port.ts';

const ORDER = Buffer.from('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141', 'hex');

/** SEC 1: the first byte of a compressed point whose y is even. */
const EVEN = 0x02;

export const wasmCurve: Curve = {
  publicKeyOf(secretKey) {
    if (secretKey.length !== 32 || !secp.isPrivate(secretKey)) return undefined;
    return secp.xOnlyPointFromScalar(secretKey);
  },

  isXOnly: (bytes) => bytes.length === 32 && secp.isXOnlyPoint(bytes),

  signDigest: (digest, secretKey, aux) => secp.signSchnorr(digest, secretKey, aux),

  sharedX(secretKey, publicKey) {
    if (secretKey.length !== 32 || !secp.isPrivate(secretKey) || !wasmCurve.isXOnly(publicKey)) return undefined;
    const point = new Uint8Array(33);
    point[0] = EVEN;
    point.set(publicKey, 1);
    // Its time may depend on the key. Peers come from the configuration and the result is kept: nobody can measure it.
    return secp.pointMultiply(point, secretKey, true)?.subarray(1);
  },

  verifyDigest(digest, publicKey, signature) {
    if (digest.length !== 32 || signature.length !== 64 || publicKey.length !== 32) return false;
    // The package throws for a half that is not below the order, and a stranger may send one.
    if (!isBelowOrder(signature.subarray(0, 32)) || !isBelowOrder(signature.subarray(32))) return false;
    try {
      return secp.verifySchnorr(digest, publicKey, signature);
    } catch (error) {
      // It throws for what is no point, too. To ask before would do the costly half of that check twice for every event.
      if (wasmCurve.isXOnly(publicKey)) throw error;
      return false;
    }
  },
};

function isBelowOrder(half: Uint8Array): boolean {
  return Buffer.compare(half, ORDER) < 0;
}
