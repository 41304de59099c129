/** What an implementation of the curve offers; test/nostr/curve.test.ts holds both to the same answers. */
export interface Curve {
  /** The x-only public key (32 bytes) of a secret key, or undefined when it is not 1..n-1. */
  readonly publicKeyOf: (secretKey: Uint8Array) => Uint8Array | undefined;
  /** True when 32 bytes are the x coordinate of a point on the curve. */
  readonly isXOnly: (bytes: Uint8Array) => boolean;
  /** A 64-byte signature over a 32-byte digest. `aux` is 32 bytes of randomness (BIP-340). */
  readonly signDigest: (digest: Uint8Array, secretKey: Uint8Array, aux: Uint8Array) => Uint8Array;
  /**
   * ECDH as NIP-44 has it: the x coordinate (32 bytes, not hashed) of the point of `publicKey` with an even y, times
   * `secretKey`. Undefined when either is none.
   */
  readonly sharedX: (secretKey: Uint8Array, publicKey: Uint8Array) => Uint8Array | undefined;
  /** Never throws: malformed lengths and points are simply not valid. */
  readonly verifyDigest: (digest: Uint8Array, publicKey: Uint8Array, signature: Uint8Array) => boolean;
}
