/**
 * Who calls over HTTP, where there is no connection to remember it: what each pubkey may still ask for, the same as on
 * one connection, and which NIP-98 events were used. Bounded; knows no clock.
 */
import { refuse } from '../model/index.ts';
import type { Milliseconds, Pubkey } from '../model/index.ts';
import type { RelayRefusal } from './answers.ts';
import type { Caller } from './http-auth.ts';
import type { RelayLimits } from './limits.ts';
import { fullQuota, takeOne } from './quota.ts';
import type { Quota } from './quota.ts';

/** Pubkeys remembered before those that may ask for everything again are forgotten. */
const SWEEP_AT = 1_024;
/** Used events remembered: each had a valid signature and was within its caller's quota. Beyond: `rate-limited:`. */
const MAX_USED = 65_536;

export class Callers {
  readonly #limits: RelayLimits;
  readonly #quotas = { events: new Map<Pubkey, Quota>(), requests: new Map<Pubkey, Quota>() };
  /** When each is too old to be used again. */
  readonly #used = new Map<string, number>();

  constructor(limits: RelayLimits) {
    this.#limits = limits;
  }

  /** Takes one request; its event is used then. `nowMs` is for the pace, `nowSec` what stamps are compared with. */
  admit({ identity, eventId, createdAtSec }: Caller, what: 'events' | 'requests', nowMs: Milliseconds, nowSec: number): RelayRefusal | undefined {
    if (this.#used.has(eventId)) return refuse('auth-required', 'Authorization: expected an event that was not used before');
    const exhausted = this.#take(what, identity.pubkey, nowMs);
    if (exhausted !== undefined) return exhausted;
    if (this.#used.size >= MAX_USED) this.#forget(nowSec);
    if (this.#used.size >= MAX_USED) return refuse('rate-limited', `quota exceeded; retry in ${this.#limits.httpAuthWindowSec}s`);
    this.#used.set(eventId, createdAtSec + this.#limits.httpAuthWindowSec);
    return undefined;
  }

  #take(what: 'events' | 'requests', pubkey: Pubkey, nowMs: Milliseconds): RelayRefusal | undefined {
    const quotas = this.#quotas[what];
    const { eventsPerSec, eventsBurst, requestsPerSec, requestsBurst } = this.#limits;
    const full = what === 'events' ? fullQuota(eventsPerSec, eventsBurst, nowMs) : fullQuota(requestsPerSec, requestsBurst, nowMs);
    if (quotas.size >= SWEEP_AT && !quotas.has(pubkey)) {
      for (const [each, { perSec, burst, left, atMs }] of quotas) {
        if (left + ((nowMs - atMs) / 1_000) * perSec >= burst) quotas.delete(each);
      }
    }
    const { quota, refusal } = takeOne(quotas.get(pubkey) ?? full, nowMs);
    quotas.set(pubkey, quota);
    return refusal;
  }

  #forget(nowSec: number): void {
    for (const [eventId, untilSec] of this.#used) if (untilSec < nowSec) this.#used.delete(eventId);
  }
}
