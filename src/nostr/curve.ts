/**
 * BIP-340 and ECDH over secp256k1 behind five functions; signatures over 32-byte messages only, all that NIP-01 needs.
 * libsecp256k1 as WebAssembly does the work: about 6x the speed of pure JavaScript, synchronous, nothing to compile.
 * Where the runtime has no WebAssembly (`--jitless`) the plain one does it: slower, and the same answers.
 */
import type { Curve } from './curve-port.ts';

// A global of the language's host that the types of Node do not know.
declare const WebAssembly: unknown;

// Loaded by need: the WebAssembly one cannot even be imported where there is none.
const curve: Curve = typeof WebAssembly === 'undefined'
  ? (await import('./curve-plain.ts')).plainCurve
  : (await import('./curve-wasm.ts')).wasmCurve;

export const { publicKeyOf, isXOnly, sharedX, signDigest, verifyDigest } = curve;
