/** A token bucket as a value: how much a connection may still ask for. Pure; refills with the time it is told. */
import { refuse } from '../model/index.ts';
import type { Milliseconds } from '../model/index.ts';
import type { RelayRefusal } from './answers.ts';

export interface Quota {
  readonly perSec: number;
  readonly burst: number;
  readonly left: number;
  readonly atMs: Milliseconds;
}

export function fullQuota(perSec: number, burst: number, nowMs: Milliseconds): Quota {
  return { perSec, burst, left: burst, atMs: nowMs };
}

/** Takes one. A refusal says after how many seconds to come again, in the words Buzz clients read. */
export function takeOne(quota: Quota, nowMs: Milliseconds): { readonly quota: Quota; readonly refusal?: RelayRefusal } {
  const elapsedSec = Math.max(0, nowMs - quota.atMs) / 1000;
  const left = Math.min(quota.burst, quota.left + elapsedSec * quota.perSec);
  if (left >= 1) return { quota: { ...quota, left: left - 1, atMs: nowMs } };
  const waitSec = Math.ceil((1 - left) / quota.perSec);
  return {
    quota: { ...quota, left, atMs: nowMs },
    refusal: refuse('rate-limited', `quota exceeded; retry in ${waitSec}s`),
  };
}
