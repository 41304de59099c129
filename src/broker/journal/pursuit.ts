/**
 * Pursues records in doubt: one pass over them when there is reason to, and another later while some stay open. The
 * wait doubles from 5 s to 10 min and starts over with each new doubt; nothing is armed when nothing is in doubt.
 * in: doubts. out: passes, one at a time.
 */
import { later } from '../../model/index.ts';
import type { Clock, Log } from '../../model/index.ts';

export interface Pursuit {
  /** A record was left in doubt. */
  doubt(): void;
  /** One pass now; resolves when it, or the one under way, is over. Never rejects. */
  pass(): Promise<void>;
  close(): void;
}

export interface PursuitOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** One pass; the number of records that stay in doubt. */
  readonly reconcile: () => Promise<number>;
}

const FIRST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 600_000;

export function openPursuit({ clock, log, reconcile }: PursuitOptions): Pursuit {
  let waitMs = FIRST_WAIT_MS;
  let cancel: (() => void) | undefined;
  let under: Promise<void> | undefined;
  let doubts = 0;
  let closed = false;

  function arm(): void {
    if (closed) return;
    cancel?.();
    cancel = clock.wake(later(clock.now(), waitMs), () => {
      cancel = undefined;
      void pass();
    });
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
  }

  function pass(): Promise<void> {
    under ??= run();
    return under;
  }

  async function run(): Promise<void> {
    cancel?.();
    cancel = undefined;
    const before = doubts;
    const left = await reconcile().catch((error: unknown) => {
      log.error('journal: open records could not be read', { error });
      return 1;
    });
    under = undefined;
    if (left > 0) log.info('journal: records stay in doubt', { records: left });
    else waitMs = FIRST_WAIT_MS;
    if (left === 0 && doubts === before) return;
    arm();
  }

  return {
    doubt() {
      doubts += 1;
      // A pass under way arms when it is over, for its own doubts and for those that came meanwhile.
      if (under !== undefined) return;
      waitMs = FIRST_WAIT_MS;
      arm();
    },
    pass,
    close() {
      closed = true;
      cancel?.();
      cancel = undefined;
    },
  };
}
