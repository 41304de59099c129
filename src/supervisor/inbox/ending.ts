/**
 * What the end of a turn makes of its messages: which are over, which wait again, and in what order. Pure.
 *
 * What comes back goes to the front of its lane, because it is older than what waits. Where the turn was cut short for
 * messages that came meanwhile, those follow it at once, and all of them become one turn (`ready.ts`). Where the agent had
 * published in it, its messages are over, for nothing is the instruction of two turns that may answer it; that turn has them as
 * evidence alone (`carried`): under `steer` so that what was only begun is finished, under `interrupt` as what is dropped. It
 * is not on disk: over a restart the conversation tells of it.
 */
import { later, unreachable } from '../../model/index.ts';
import type { Milliseconds } from '../../model/index.ts';
import { limitRetryDelayMs, MAX_ATTEMPTS, MAX_BATCH, retryDelayMs } from './entry.ts';
import type { Batch, CutTurn, Entry } from './entry.ts';
import type { Lane } from './lanes.ts';
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
export function queueAfter({ queue, inFlight, offers = [], merging }: Lane, ending: Ending, back: readonly Entry[], given: readonly Entry[]): readonly Entry[] {
  const isOffered = ({ eventId }: Entry): boolean => offers.includes(eventId);
  const joining = merging === undefined ? [] : byArrival([...given, ...queue.filter(isOffered)]);
  const isMerged = joining.length > 0 && (back.length > 0 || isUnfinished(ending));
  // What a turn has carried on comes back with it.
  const alone = inFlight?.carried === undefined ? undefined : 'joins';
  if (!isMerged) return [...byArrival([...back, ...given]).map((entry): Entry => ({ ...entry, merge: alone })), ...queue];
  // What the agent has read no word of is not interrupted: it is one instruction with what came meanwhile.
  const isRead = isUnfinished(ending) || (ending.how === 'again' && ending.interrupted);
  return [
    ...back.map((entry): Entry => ({ ...entry, merge: isRead ? merging : alone })),
    ...joining.map((entry): Entry => ({ ...entry, merge: isRead ? 'joins' : alone })),
    ...queue.filter((entry) => !isOffered(entry)),
  ];
}

/** What the next turn of the lane is to carry on; `ended` are the messages that are over. */
export function carriedAfter({ inFlight, merging }: Lane, ending: Ending, ended: readonly Entry[]): CutTurn | undefined {
  const before = inFlight?.carried;
  if (ending.how === 'again') return before;
  if (merging === undefined || !isUnfinished(ending)) return undefined;
  const [first, ...rest] = [...(before?.entries ?? []), ...ended].slice(-MAX_BATCH);
  return first && { mode: merging, entries: [first, ...rest] };
}

function isUnfinished(ending: Ending): boolean {
  return ending.how === 'done' && ending.unfinished === true;
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
