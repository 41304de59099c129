/**
 * Turn metrics of one agent on their way to its owner (NIP-AM): kind 44200, sealed, stored by the relay. Each is signed
 * once and the very same event is sent until the relay has said yes or no, in memory and for a bounded time: a metric is
 * an account, no message, and nobody waits for it.
 */
import { later, secondsOf, within } from '../model/index.ts';
import type { Clock, Log, Milliseconds, Pubkey, Refusal } from '../model/index.ts';
import type { EventTemplate, Sealing, VerifiedEvent } from '../nostr/index.ts';
import type { Upstream } from './upstream/index.ts';

export interface Metrics {
  /** Returns at once and never throws. `at` is the end of the turn, the payload's own timestamp. */
  publish(plaintext: string, at: Milliseconds): void;
  /** Takes nothing in any more; what waits is sent for `graceMs` at most, and then dropped. Twice cuts that short. */
  close(graceMs: number): Promise<void>;
}

export interface MetricsOptions {
  readonly pubkey: Pubkey;
  readonly owner: Pubkey;
  readonly seal: (plaintext: string) => Sealing | Refusal<'peer'>;
  readonly sign: (template: EventTemplate) => VerifiedEvent;
  readonly upstream: Pick<Upstream, 'publish'>;
  /** For deadlines. */
  readonly steadyClock: Clock;
  readonly log: Log;
}

/** NIP-AM. */
const METRIC_KIND = 44_200;
/** For one answer of the relay; a connection that comes back meanwhile is used. */
const ANSWER_MS = 30_000;
const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 300_000;
/** After this long without a verdict a metric is given up: a day of a relay that is away. */
export const GIVE_UP_MS = 86_400_000;
/** Metrics that wait for a relay that is away, about a megabyte. Beyond it the oldest is given up. */
export const MAX_WAITING = 512;

interface Waiting {
  readonly event: VerifiedEvent;
  readonly untilMs: Milliseconds;
  wake?: () => void;
}

export function openMetrics(options: MetricsOptions): Metrics {
  const { pubkey, owner, seal, sign, upstream, steadyClock, log } = options;
  const waiting = new Set<Waiting>();
  let closed = false;
  let drained: (() => void) | undefined;

  function end(one: Waiting): void {
    one.wake?.();
    waiting.delete(one);
    if (waiting.size === 0) drained?.();
  }

  function giveUp(one: Waiting, reason: string): void {
    log.warn('a turn metric did not reach the relay', { agent: pubkey, eventId: one.event.id, reason });
    end(one);
  }

  async function pursue(one: Waiting): Promise<void> {
    for (let pauseMs = FIRST_PAUSE_MS; waiting.has(one); pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      const outcome = await upstream.publish(one.event, { timeoutMs: ANSWER_MS });
      if (!waiting.has(one)) return;
      if (outcome.status === 'accepted') return end(one);
      if (outcome.status === 'rejected') return giveUp(one, outcome.reason);
      const againMs = later(steadyClock.now(), pauseMs);
      if (againMs >= one.untilMs) return giveUp(one, outcome.reason);
      await new Promise<void>((resolve) => {
        const cancel = steadyClock.wake(againMs, resolve);
        one.wake = () => {
          cancel();
          resolve();
        };
      });
    }
  }

  return {
    publish(plaintext, at) {
      const sealing = closed ? undefined : seal(plaintext);
      if (sealing?.ok !== true) return log.warn('a turn metric could not be sealed', { agent: pubkey, bytes: plaintext.length });
      const tags = [['p', owner], ['agent', pubkey]];
      const event = sign({ kind: METRIC_KIND, tags, content: sealing.payload, created_at: secondsOf(at) });
      const one: Waiting = { event, untilMs: later(steadyClock.now(), GIVE_UP_MS) };
      waiting.add(one);
      const [oldest] = waiting;
      if (waiting.size > MAX_WAITING && oldest !== undefined) giveUp(oldest, `more than ${MAX_WAITING} wait`);
      void pursue(one);
    },
    async close(graceMs) {
      if (closed) return drained?.();
      closed = true;
      if (waiting.size > 0) {
        await within(steadyClock, graceMs, new Promise<void>((resolve) => {
          drained = resolve;
        }));
      }
      for (const one of [...waiting]) giveUp(one, 'the broker closes');
    },
  };
}
