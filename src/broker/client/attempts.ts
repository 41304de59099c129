/**
 * The identical bytes, sent until there is a verdict or patience ends (NIP-BA "Execution and retries" 1).
 *
 * A verdict is whatever the wire reads as the result of this very request, whatever the HTTP status was. Everything
 * else is a transport failure, and says nothing of whether the operation ran. It is tried again unless the answer
 * would be the same: a redirect, an HTTP refusal of the request as such, an answer beyond the limit.
 */
import { later, pause } from '../../model/index.ts';
import type { Clock, Random } from '../../model/index.ts';
import { readResult } from '../wire/index.ts';
import type { BrokerRequest, BrokerResult } from '../wire/index.ts';
import type { Exchange, Exchanged } from './exchange.ts';
import type { ClientLimits } from './limits.ts';
import type { TransportReason } from './ports.ts';

export interface Frozen {
  readonly request: BrokerRequest;
  readonly bytes: Uint8Array;
  /** Some attempt may have been executed without a verdict that settles it. */
  uncertain: boolean;
}

export type Attempted =
  | { readonly type: 'verdict'; readonly result: BrokerResult }
  | { readonly type: 'none'; readonly reason: TransportReason; readonly detail: string; readonly attempts: number };

export interface AttemptParts {
  readonly exchange: Exchange;
  readonly limits: ClientLimits;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
}

/** HTTP statuses below 500 that may be gone the next time. */
const PASSING: readonly number[] = [408, 425, 429];

export async function attempt(frozen: Frozen, parts: AttemptParts): Promise<Attempted> {
  const { exchange, limits, clock, random, signal } = parts;
  const deadline = later(clock.now(), limits.callTimeoutMs);
  let last: Failure = { reason: 'aborted', detail: 'the call was aborted', again: false };
  let attempts = 0;
  while (!signal.aborted) {
    attempts += 1;
    const timeoutMs = Math.min(limits.attemptTimeoutMs, deadline - clock.now());
    const exchanged = await exchange(frozen.bytes, timeoutMs, signal);
    const reading = exchanged.type === 'answer' ? readResult(exchanged.body, frozen.request) : undefined;
    if (reading?.ok === true) return { type: 'verdict', result: reading.result };
    // A proxy's error is no proof that the request stopped there.
    if (exchanged.type === 'answer' || exchanged.reached) frozen.uncertain = true;
    last = failureOf(exchanged, reading?.detail);
    const waitMs = pauseMs(attempts, limits, random);
    if (!last.again || attempts >= limits.maxAttempts || later(clock.now(), waitMs) >= deadline) break;
    await pause(clock, waitMs, signal);
  }
  if (signal.aborted) last = { reason: 'aborted', detail: 'the call was aborted', again: false };
  return { type: 'none', reason: last.reason, detail: last.detail, attempts };
}

interface Failure {
  readonly reason: TransportReason;
  readonly detail: string;
  readonly again: boolean;
}

function failureOf(exchanged: Exchanged, detail = ''): Failure {
  if (exchanged.type === 'failure') {
    const { reason } = exchanged;
    return { reason, detail: exchanged.detail, again: reason !== 'too_large' && reason !== 'aborted' };
  }
  const { httpStatus } = exchanged;
  if (httpStatus >= 300 && httpStatus < 400) {
    return { reason: 'redirect', detail: `HTTP ${httpStatus}: a redirect is not followed`, again: false };
  }
  if (httpStatus === 200) return { reason: 'invalid_result', detail, again: true };
  const again = httpStatus >= 500 || PASSING.includes(httpStatus);
  return { reason: 'http', detail: `HTTP ${httpStatus} without a valid result`, again };
}

/** After the `attempt`th: half to the whole of a wait that doubles, so that clients do not come back together. */
function pauseMs(attempt: number, { firstPauseMs, longestPauseMs }: ClientLimits, random: Random): number {
  const whole = Math.min(firstPauseMs * 2 ** (attempt - 1), longestPauseMs);
  return Math.ceil(whole * (1 - random.fraction() / 2));
}
