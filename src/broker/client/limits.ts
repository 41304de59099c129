/**
 * Every bound of the client (NIP-BA "Session and transport": clients bound body sizes, concurrent work, timeouts and
 * retries). Source: ours; the times stand against those of docs/broker.md.
 */
import { refuse } from '../../model/index.ts';
import type { Refusal } from '../../model/index.ts';
import { RESULT_LIMITS } from '../wire/index.ts';

export interface ClientLimits {
  /** How often the same bytes are sent in one call. With the pauses below that is about 8 s of a host that is away. */
  readonly maxAttempts: number;
  /** From connect to the last byte of one answer. A host answers an action within 20 s. */
  readonly attemptTimeoutMs: number;
  /** The whole call, pauses included; the last attempt is cut off there. */
  readonly callTimeoutMs: number;
  /** Before the second attempt; twice as long each time. A random part of up to half of it is left out. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** Calls under way; half of what a host lets one agent do at once. */
  readonly maxConcurrent: number;
  /** Calls that wait for one of those; beyond it a call is `overloaded` at once. */
  readonly maxWaiting: number;
  readonly maxResponseBytes: number;
}

export const CLIENT_LIMITS: ClientLimits = {
  maxAttempts: 6,
  attemptTimeoutMs: 30_000,
  callTimeoutMs: 120_000,
  firstPauseMs: 250,
  longestPauseMs: 5_000,
  maxConcurrent: 32,
  maxWaiting: 1_024,
  maxResponseBytes: RESULT_LIMITS.maxBytes,
};

/** A timer of Node's goes no further: beyond it one rings at once. */
const MAX_LIMIT = 2_147_483_647;

export function checkLimits(limits: ClientLimits): Refusal<'limits'> | undefined {
  for (const [name, value] of Object.entries<unknown>({ ...limits })) {
    // With no call at once each of them would wait for ever.
    const least = name === 'maxConcurrent' ? 1 : 0;
    if (typeof value !== 'number' || !(value >= least && value <= MAX_LIMIT)) return refuse('limits', `limits.${name}: expected a number from ${least} to ${MAX_LIMIT}`);
  }
  return undefined;
}
