/**
 * What the end of a turn makes of its messages: which are over, which wait again, and in what order. Pure.
 *
 * What comes back goes to the front of its lane, because it is older than what waits. Where the turn was cut short for
 * messages that came meanwhile, those follow it at once, and all of them become one turn (`ready.ts`).
 */
import { later, unreachable } from '../../model/index.ts';
import type { Milliseconds } from '../../model/index.ts';
import { limitRetryDelayMs, MAX_ATTEMPTS, retryDelayMs } from './entry.ts';
import type { Batch, Entry } from './entry.ts';
import type { Lane } from './state.ts';
import type { Ending, InboxCommand } from './step.ts';

/** `back` waits again, by arrival. */
export interface Ended {
  readonly back: readonly Entry[];
  readonly commands: readonly InboxCommand[];
}

interface EndingAt {
  readonly ending: Ending;
  readonly now: Milliseconds;
  /** In [0, 1). */
  readonly jitter: number;
}

/** What `ending` makes of `entries`, which are of the turn `batch`, or were given to it since. */
export function endOf(batch: Batch, entries: readonly Entry[], { ending, now, jitter }: EndingAt): Ended {
  const [first, ...rest] = entries;
  if (first === undefined) return { back: [], commands: [] };
  const { turnId, lane, channelId } = batch;
  const ended: Batch = { turnId, lane, channelId, entries: [first, ...rest] };
  switch (ending.how) {
    case 'done':
      return { back: [], commands: saveAll(entries, 'done', ending.outcome) };
    case 'dead':
      return bury(ended, ending.reason);
    case 'again': {
      const attempts = Math.max(...entries.map((entry) => entry.attempts)) + (ending.cause === 'stop' ? 0 : 1);
      if (attempts > MAX_ATTEMPTS) return bury(ended, `gave up after ${MAX_ATTEMPTS} retries: ${ending.reason}`);
      const notBeforeMs = later(now, waitMs(ending, attempts, jitter));
      const back = byArrival(entries.map((entry): Entry => ({
        ...entry, attempts, notBeforeMs, interrupted: entry.interrupted || ending.interrupted, merge: undefined,
      })));
      return { back, commands: back.map((entry) => ({ type: 'save', save: { change: 'queued', entry, outcome: ending.reason } })) };
    }
    default:
      return unreachable(ending);
  }
}

/** The queue of a lane whose turn has ended: `back` are its messages, `given` those that it was given and ended apart. */
export function queueAfter({ queue, offers = [], merging }: Lane, ending: Ending, back: readonly Entry[], given: readonly Entry[]): readonly Entry[] {
  if (merging === undefined || back.length === 0) return [...byArrival([...back, ...given]), ...queue];
  // What the agent has read no word of is not interrupted: it is one instruction with what came meanwhile.
  const isRead = ending.how === 'again' && ending.interrupted;
  const isOffered = ({ eventId }: Entry): boolean => offers.includes(eventId);
  const joining = byArrival([...given, ...queue.filter(isOffered)]);
  return [
    ...back.map((entry): Entry => ({ ...entry, merge: isRead ? merging : undefined })),
    ...joining.map((entry): Entry => ({ ...entry, merge: isRead ? 'joins' : undefined })),
    ...queue.filter((entry) => !isOffered(entry)),
  ];
}

export function saveAll(entries: readonly Entry[], change: 'done' | 'dead', outcome: string): readonly InboxCommand[] {
  return entries.map(({ eventId }) => ({ type: 'save', save: { change, eventId, outcome } }));
}

function waitMs(ending: Extract<Ending, { readonly how: 'again' }>, attempts: number, jitter: number): number {
  switch (ending.cause) {
    case 'failure':
      return retryDelayMs(attempts, jitter);
    case 'limit':
      return limitRetryDelayMs(attempts, jitter, ending.retryAfterMs);
    case 'restart':
    case 'stop':
      return 0;
    default:
      return unreachable(ending.cause);
  }
}

function bury(batch: Batch, reason: string): Ended {
  return { back: [], commands: [...saveAll(batch.entries, 'dead', reason), { type: 'give_up', batch, reason }] };
}

function byArrival(entries: readonly Entry[]): readonly Entry[] {
  return [...entries].sort((a, b) => a.receivedAtMs - b.receivedAtMs);
}
