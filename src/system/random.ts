/** The operating system's randomness as a `Random`. */
import { randomBytes } from 'node:crypto';
import type { Random } from '../model/index.ts';

export const systemRandom: Random = {
  bytes: (count) => new Uint8Array(randomBytes(count)),
  // Jitter needs no secrecy.
  fraction: () => Math.random(),
};
