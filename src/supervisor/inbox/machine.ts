/**
 * The inbox of one agent: which accepted events wait, which are in a turn, what happens to them when it ends.
 * Pure; the driver commits every `save` before it performs anything else (commit before act).
 *
 *   entry \ input | accepted      | take          | finished               | left                | restored
 *   (unknown)     | → queued      | -             | -                      | -                   | → queued, or as if
 *                 |               |               |                        |                     |   its turn had failed
 *   queued        | ignored (dup) | → dispatched  | -                      | → dead              | -
 *   dispatched    | ignored (dup) | not again     | → done, queued (later),| → dead, and its     | -
 *                 |               |               |   dead                 |   turn is cut short |
 *   done, dead    | rows only: the driver asks the store before it says `accepted`
 *
 * `cancelled` (the owner wants a channel's turns no more): dispatched → done, and its turn is cut short. `commanded` (an
 * owner's command): a row that is done from the beginning. Neither touches what waits.
 *
 * Which entries a turn takes, and when, is `ready.ts`.
 */
import { later, unreachable } from '../../model/index.ts';
import type { ChannelId, EventId, Milliseconds } from '../../model/index.ts';
import { limitRetryDelayMs, MAX_ATTEMPTS, retryDelayMs } from './entry.ts';
import type { Batch, Entry } from './entry.ts';
import { arrival, headBatch, readyAt, takeable } from './ready.ts';
import { enqueue, holds, overflowing, withLane, without } from './state.ts';
import type { InboxState, Lane } from './state.ts';

/** How a turn ended, as far as its events are concerned. `reason` is for people and the row; never a payload. */
export type Ending =
  | { readonly how: 'done'; readonly outcome: string }
  /**
   * To be prompted again. A `failure` counts and waits, a `restart` counts, a `stop` of ours does neither. A `limit` of the
   * model's provider counts and waits long, where it said so as long as it asked for.
   */
  | {
      readonly how: 'again';
      readonly reason: string;
      readonly interrupted: boolean;
      readonly cause: 'failure' | 'limit' | 'restart' | 'stop';
      /** Of a limit. */
      readonly retryAfterMs?: number;
    }
  /** Never to be prompted again, which is told in the thread. */
  | { readonly how: 'dead'; readonly reason: string };

export type InboxInput =
  | { readonly type: 'accepted'; readonly entry: Entry }
  /** From the store at start: what waited, in arrival order, and the turns that were in flight, with those `answered`. */
  | {
      readonly type: 'restored';
      readonly queued: readonly Entry[];
      readonly stranded: readonly Batch[];
      readonly answered: ReadonlySet<string>;
    }
  /** A process is free: hand out the oldest turn that is ready. */
  | { readonly type: 'take'; readonly turnId: string }
  | { readonly type: 'finished'; readonly turnId: string; readonly ending: Ending; readonly jitter: number }
  /** The agent is no longer in the channel. */
  | { readonly type: 'left'; readonly channelId: ChannelId }
  /** The owner wants the turns under way in the channel no more. */
  | { readonly type: 'cancelled'; readonly channelId: ChannelId; readonly outcome: string }
  /** A message that is a command and was never to be prompted. */
  | { readonly type: 'commanded'; readonly entry: Entry; readonly outcome: string };

/** A change of one row. `insert` for an event the store does not have yet. */
export type Save =
  | { readonly change: 'insert'; readonly entry: Entry }
  /** The same, done at once. */
  | { readonly change: 'consumed'; readonly entry: Entry; readonly outcome: string }
  | { readonly change: 'dispatched'; readonly eventId: EventId; readonly turnId: string }
  | { readonly change: 'queued'; readonly entry: Entry; readonly outcome: string }
  | { readonly change: 'done'; readonly eventId: EventId; readonly outcome: string }
  | { readonly change: 'dead'; readonly eventId: EventId; readonly outcome: string };

export type InboxCommand =
  | { readonly type: 'save'; readonly save: Save }
  | { readonly type: 'dispatch'; readonly batch: Batch }
  /** End the turn under way: nobody wants its answer any more. `gently` where the agent goes on in the channel. */
  | { readonly type: 'cut_short'; readonly turnId: string; readonly gently: boolean }
  /** Tell the thread that these will not be answered. */
  | { readonly type: 'give_up'; readonly batch: Batch; readonly reason: string };

export interface InboxStep {
  readonly state: InboxState;
  readonly commands: readonly InboxCommand[];
}

export function stepInbox(state: InboxState, input: InboxInput, now: Milliseconds): InboxStep {
  switch (input.type) {
    case 'accepted':
      return accept(state, input.entry);
    case 'restored':
      return restore(state, input, now);
    case 'take':
      return take(state, input.turnId, now);
    case 'finished':
      return finish(state, input, now);
    case 'left':
      return leave(state, input.channelId);
    case 'cancelled':
      return cancel(state, input);
    case 'commanded':
      return { state, commands: [{ type: 'save', save: { change: 'consumed', entry: input.entry, outcome: input.outcome } }] };
    default:
      return unreachable(input);
  }
}

function accept(state: InboxState, entry: Entry): InboxStep {
  if (holds(state.lanes.get(entry.lane), entry.eventId)) return { state, commands: [] };
  const next = enqueue(state, entry);
  const commands: InboxCommand[] = [{ type: 'save', save: { change: 'insert', entry } }];
  const oldest = overflowing(next, entry.channelId);
  if (oldest === undefined) return { state: next, commands };
  commands.push({ type: 'save', save: { change: 'dead', eventId: oldest.eventId, outcome: 'overflow' } });
  return { state: without(next, oldest), commands };
}

function take(state: InboxState, turnId: string, now: Milliseconds): InboxStep {
  const ready = takeable(state).filter(([, lane]) => readyAt(headBatch(lane.queue), lane.queue, state.settings) <= now);
  const oldest = ready.reduce<(typeof ready)[number] | undefined>(
    (best, one) => (best !== undefined && arrival(best[1]) <= arrival(one[1]) ? best : one),
    undefined,
  );
  if (oldest === undefined) return { state, commands: [] };
  const [key, lane] = oldest;
  const taken = headBatch(lane.queue);
  const [first, ...rest] = [...taken].sort((a, b) => a.event.created_at - b.event.created_at);
  if (first === undefined) return { state, commands: [] };
  const batch: Batch = { turnId, lane: key, channelId: first.channelId, entries: [first, ...rest] };
  return {
    state: withLane(state, key, { queue: lane.queue.slice(taken.length), inFlight: batch }),
    commands: [
      ...taken.map((entry): InboxCommand => ({ type: 'save', save: { change: 'dispatched', eventId: entry.eventId, turnId } })),
      { type: 'dispatch', batch },
    ],
  };
}

function finish(state: InboxState, input: Extract<InboxInput, { type: 'finished' }>, now: Milliseconds): InboxStep {
  const lane = [...state.lanes.values()].find((one) => one.inFlight?.turnId === input.turnId);
  const batch = lane?.inFlight;
  if (lane === undefined || batch === undefined) return { state, commands: [] };
  const rest = withLane(state, batch.lane, { queue: lane.queue });
  const { ending } = input;
  if (lane.decided === true) return { state: rest, commands: [] };
  switch (ending.how) {
    case 'done':
      return { state: rest, commands: saveAll(batch.entries, 'done', ending.outcome) };
    case 'dead':
      return { state: rest, commands: bury(batch, ending.reason) };
    case 'again':
      return again(state, lane, batch, { ending, now, jitter: input.jitter });
    default:
      return unreachable(ending);
  }
}

/** Turns that were in flight when the supervisor stopped end now: answered, or as a failure that need not wait. */
function restore(state: InboxState, input: Extract<InboxInput, { type: 'restored' }>, now: Milliseconds): InboxStep {
  const commands: InboxCommand[] = [];
  let next = input.queued.reduce(enqueue, state);
  for (const batch of input.stranded) {
    const lane = next.lanes.get(batch.lane) ?? { queue: [] };
    const ending: Ending = input.answered.has(batch.turnId)
      ? { how: 'done', outcome: 'answered before the restart' }
      : { how: 'again', reason: 'the supervisor stopped in mid-turn', interrupted: true, cause: 'restart' };
    const flying = withLane(next, batch.lane, { ...lane, inFlight: batch });
    const step = finish(flying, { type: 'finished', turnId: batch.turnId, ending, jitter: 0 }, now);
    next = step.state;
    commands.push(...step.commands);
  }
  return { state: next, commands };
}

interface Again {
  readonly ending: Extract<Ending, { how: 'again' }>;
  readonly now: Milliseconds;
  readonly jitter: number;
}

/** Back to the front of the lane: what failed is older than what waits, and order is kept. */
function again(state: InboxState, lane: Lane, batch: Batch, { ending, now, jitter }: Again): InboxStep {
  const attempts = Math.max(...batch.entries.map((entry) => entry.attempts)) + (ending.cause === 'stop' ? 0 : 1);
  if (attempts > MAX_ATTEMPTS) {
    const reason = `gave up after ${MAX_ATTEMPTS} retries: ${ending.reason}`;
    return { state: withLane(state, batch.lane, { queue: lane.queue }), commands: bury(batch, reason) };
  }
  const notBeforeMs = later(now, waitMs(ending, attempts, jitter));
  const back = batch.entries.map((entry): Entry => ({
    ...entry, attempts, notBeforeMs, interrupted: entry.interrupted || ending.interrupted,
  }));
  back.sort((a, b) => a.receivedAtMs - b.receivedAtMs);
  return {
    state: withLane(state, batch.lane, { queue: [...back, ...lane.queue] }),
    commands: back.map((entry) => ({ type: 'save', save: { change: 'queued', entry, outcome: ending.reason } })),
  };
}

function waitMs(ending: Again['ending'], attempts: number, jitter: number): number {
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

function bury(batch: Batch, reason: string): readonly InboxCommand[] {
  return [...saveAll(batch.entries, 'dead', reason), { type: 'give_up', batch, reason }];
}

function saveAll(entries: readonly Entry[], change: 'done' | 'dead', outcome: string): readonly InboxCommand[] {
  return entries.map(({ eventId }) => ({ type: 'save', save: { change, eventId, outcome } }));
}

const LEFT = 'left the channel';

function leave(state: InboxState, channelId: ChannelId): InboxStep {
  const commands: InboxCommand[] = [];
  let next = state;
  for (const [key, lane] of state.lanes) {
    const gone = lane.queue.filter((entry) => entry.channelId === channelId);
    const flying = lane.inFlight?.channelId === channelId && lane.decided !== true ? lane.inFlight : undefined;
    if (gone.length === 0 && flying === undefined) continue;
    commands.push(...saveAll(gone, 'dead', LEFT));
    // Dead from now on and not from the end of the turn: a crash between the two must not bring them back.
    if (flying !== undefined) commands.push(...saveAll(flying.entries, 'dead', LEFT), { type: 'cut_short', turnId: flying.turnId, gently: false });
    const queue = lane.queue.filter((entry) => entry.channelId !== channelId);
    next = withLane(next, key, flying === undefined ? { ...lane, queue } : { ...lane, queue, decided: true });
  }
  return { state: next, commands };
}

/** Done from now on, for the same reason. Under the thread policy these may be several turns. */
function cancel(state: InboxState, { channelId, outcome }: Extract<InboxInput, { type: 'cancelled' }>): InboxStep {
  const commands: InboxCommand[] = [];
  let next = state;
  for (const [key, lane] of state.lanes) {
    const flying = lane.inFlight;
    if (flying?.channelId !== channelId || lane.decided === true) continue;
    commands.push(...saveAll(flying.entries, 'done', outcome), { type: 'cut_short', turnId: flying.turnId, gently: true });
    next = withLane(next, key, { ...lane, decided: true });
  }
  return { state: next, commands };
}
