/**
 * When waiting entries become a turn: which of a lane go together, and from when on. Pure.
 *
 * Coalescing (compiler spec, "Queue dispatch is the authority boundary"): a turn takes contiguous entries at the head of
 * a lane with the same signing author and the same destination. One turn in flight a lane; oldest first across lanes.
 * Before them may stand the messages of a turn that was cut short for them: they go with it, as evidence; so do those of
 * one that had published by then, which wait no more.
 */
import { later } from '../../model/index.ts';
import type { Milliseconds } from '../../model/index.ts';
import { GATHER_CAP, MAX_BATCH } from './entry.ts';
import type { CutTurn, Entry, InboxSettings } from './entry.ts';
import { everyLane, isBefore } from './lanes.ts';
import type { HeldLane, Lane } from './lanes.ts';
import type { InboxState } from './state.ts';

/** When `take` may find something it does not find now: the earliest gather or back-off to pass; undefined for never. */
export function nextReadyAt(state: InboxState): Milliseconds | undefined {
  let least: Milliseconds | undefined;
  for (const lane of everyLane(state)) {
    if (!isTakeable(lane)) continue;
    const time = readyAt(lane.queue, state.settings);
    if (least === undefined || time < least) least = time;
  }
  return least;
}

/** The lane whose head becomes the next turn. Looked at in the order of arrival first, which costs less than when it is ready. */
export function oldestReady(state: InboxState, now: Milliseconds): HeldLane | undefined {
  let oldest: HeldLane | undefined;
  for (const lane of everyLane(state)) {
    if (isTakeable(lane) && isBefore(lane, oldest) && readyAt(lane.queue, state.settings) <= now) oldest = lane;
  }
  return oldest;
}

/** What the next turn of a lane is made of. */
export interface Head {
  /** Of the turn that was cut short for `entries`; mostly none. */
  readonly merged: readonly Entry[];
  readonly entries: readonly Entry[];
}

/** A turn that was cut short for messages that are not there any more comes back by itself. */
export function headOf(queue: readonly Entry[]): Head {
  const end = queue.findIndex(({ merge }) => merge !== 'steer' && merge !== 'interrupt');
  if (end > 0 && end <= MAX_BATCH && queue[end]?.merge === 'joins') return { merged: queue.slice(0, end), entries: run(queue.slice(end)) };
  return { merged: [], entries: run(queue) };
}

/** What goes with the head of a lane as evidence and is over; nothing, where what it was to go with is gone. */
export function carriedWith({ entries: [first] }: Head, carried: CutTurn | undefined): CutTurn | undefined {
  return first?.merge === 'joins' ? carried : undefined;
}

/**
 * The longest run at the head with one author and one destination. A turn that failed comes back by itself: each
 * message is the instruction of a turn, and none is only a part of another's ambient context.
 */
function run(queue: readonly Entry[]): readonly Entry[] {
  const [head] = queue;
  if (head === undefined) return [];
  const end = queue.findIndex((entry) =>
    entry.author !== head.author || entry.destination !== head.destination || entry.interrupted !== head.interrupted);
  return queue.slice(0, Math.min(end === -1 ? queue.length : end, MAX_BATCH));
}

/**
 * When the head of a queue may become a turn. Only a thread can gather: a top-level message is its own destination, so
 * nothing can join it and waiting would only cost. A head that something else follows, or that is full, is complete;
 * what a turn was cut short for has waited already.
 */
function readyAt(queue: readonly Entry[], settings: InboxSettings): Milliseconds {
  const { merged, entries } = headOf(queue);
  const first = entries[0];
  const last = entries.at(-1);
  if (first === undefined || last === undefined) throw new TypeError('readyAt: expected a queue with entries');
  const backoff = [...merged, ...entries].reduce((latest, entry) => (entry.notBeforeMs > latest ? entry.notBeforeMs : latest), first.notBeforeMs);
  const complete = first.merge === 'joins' || queue.length > entries.length || entries.length >= MAX_BATCH;
  const alone = first.destination === first.eventId;
  if (complete || alone || last.attempts > 0) return backoff;
  const quiet = later(last.receivedAtMs, settings.gatherMs);
  const patience = later(first.receivedAtMs, settings.gatherMs * GATHER_CAP);
  const gathered = quiet < patience ? quiet : patience;
  return gathered > backoff ? gathered : backoff;
}

function isTakeable({ inFlight, queue }: Lane): boolean {
  return inFlight === undefined && queue.length > 0;
}
