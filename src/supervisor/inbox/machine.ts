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
 * Which entries a turn takes, and when, is `ready.ts`; what comes while a turn is in flight is `mid-turn.ts`, and what the
 * end of a turn makes of its entries `ending.ts`.
 */
import { unreachable } from '../../model/index.ts';
import type { ChannelId, Milliseconds } from '../../model/index.ts';
import { carriedAfter, endOf, queueAfter, saveAll } from './ending.ts';
import type { Batch, Entry } from './entry.ts';
import { flying, laneInTurn, laneOf, lanesIn, withLane, withLanes } from './lanes.ts';
import type { HeldLane } from './lanes.ts';
import { dropOffered, join, steered, steering } from './mid-turn.ts';
import { carriedWith, headOf, oldestReady } from './ready.ts';
import { enqueue, enqueueAll, holds, overflowing } from './state.ts';
import type { InboxState } from './state.ts';
import type { Ending, InboxCommand, InboxInput, InboxStep, MidTurn } from './step.ts';

export type { Apart, Ending, InboxCommand, InboxInput, InboxStep, Save } from './step.ts';

export function stepInbox(state: InboxState, input: InboxInput, now: Milliseconds): InboxStep {
  switch (input.type) {
    case 'accepted':
      return accept(state, input.entry, input.midTurn);
    case 'restored':
      return restore(state, input, now);
    case 'take':
      return take(state, input.turnId, now);
    case 'steering':
      return steering(state, input);
    case 'steered':
      return steered(state, input);
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

function accept(state: InboxState, entry: Entry, midTurn: MidTurn | undefined): InboxStep {
  if (holds(laneOf(state, entry), entry.eventId)) return { state, commands: [] };
  const next = enqueue(state, entry);
  const commands: InboxCommand[] = [{ type: 'save', save: { change: 'insert', entry } }];
  const oldest = overflowing(next, entry.channelId);
  if (oldest !== undefined) commands.push({ type: 'save', save: { change: 'dead', eventId: oldest.eventId, outcome: 'overflow' } });
  const room = oldest === undefined ? { state: next, commands: [] } : dropOffered(next, oldest);
  const joined = join(room.state, entry, midTurn);
  return { state: joined.state, commands: [...commands, ...room.commands, ...joined.commands] };
}

function take(state: InboxState, turnId: string, now: Milliseconds): InboxStep {
  const lane = oldestReady(state, now);
  if (lane === undefined) return { state, commands: [] };
  const head = headOf(lane.queue);
  const [first, ...rest] = byStamp(head.entries);
  const [cut, ...others] = byStamp(head.merged);
  if (first === undefined) return { state, commands: [] };
  const mode = cut?.merge === 'interrupt' ? 'interrupt' : 'steer';
  const carried = carriedWith(head, lane.carried);
  const batch: Batch = {
    turnId, lane: first.lane, channelId: first.channelId, entries: [first, ...rest], ...(cut && { merged: { mode, entries: [cut, ...others] } }), ...(carried && { carried }),
  };
  const taken = [...head.merged, ...head.entries];
  return {
    state: withLane(state, batch, { queue: lane.queue.slice(taken.length), inFlight: batch }),
    commands: [
      ...taken.map((entry): InboxCommand => ({ type: 'save', save: { change: 'dispatched', eventId: entry.eventId, turnId } })),
      { type: 'dispatch', batch },
    ],
  };
}

/** As they were written, whenever they came. */
function byStamp(entries: readonly Entry[]): readonly Entry[] {
  return [...entries].sort((a, b) => a.event.created_at - b.event.created_at);
}

function finish(state: InboxState, input: Extract<InboxInput, { type: 'finished' }>, now: Milliseconds): InboxStep {
  const found = laneInTurn(state, input.turnId);
  if (found === undefined) return { state, commands: [] };
  const { lane, turn: batch } = found;
  if (lane.decided === true) return { state: withLane(state, batch, { queue: lane.queue }), commands: [] };
  const { jitter, ending, apart } = input;
  const others = new Set(apart?.eventIds);
  const entries = flying(lane);
  const own = entries.filter(({ eventId }) => !others.has(eventId));
  const turn = endOf(batch, own, { ending, now, jitter });
  const given = apart && endOf(batch, entries.filter(({ eventId }) => others.has(eventId)), { ending: apart.ending, now, jitter });
  const queue = queueAfter(lane, ending, turn.back, given?.back ?? []);
  const carried = carriedWith(headOf(queue), carriedAfter(lane, ending, own));
  return { state: withLane(state, batch, { queue, ...(carried && { carried }) }), commands: [...turn.commands, ...(given?.commands ?? [])] };
}

/** Turns that were in flight when the supervisor stopped end now: answered, or as a failure that need not wait. */
function restore(state: InboxState, input: Extract<InboxInput, { type: 'restored' }>, now: Milliseconds): InboxStep {
  const commands: InboxCommand[] = [];
  let next = enqueueAll(state, input.queued);
  for (const batch of input.stranded) {
    const lane = laneOf(next, batch) ?? { queue: [] };
    const ending: Ending = input.answered.has(batch.turnId) ? { how: 'done', outcome: 'answered before the restart' } : STRANDED;
    const eventIds = batch.entries.map(({ eventId }) => eventId).filter((eventId) => input.unanswered?.has(eventId));
    const aloft = withLane(next, batch, { ...lane, inFlight: batch });
    const step = finish(aloft, { type: 'finished', turnId: batch.turnId, ending, jitter: 0, apart: { eventIds, ending: STRANDED } }, now);
    next = step.state;
    commands.push(...step.commands);
  }
  return { state: next, commands };
}

const STRANDED: Ending = { how: 'again', reason: 'the supervisor stopped in mid-turn', interrupted: true, cause: 'restart' };

const LEFT = 'left the channel';

function leave(state: InboxState, channelId: ChannelId): InboxStep {
  const commands: InboxCommand[] = [];
  const changed: (readonly [string, HeldLane])[] = [];
  for (const [key, lane] of lanesIn(state, channelId).lanes) {
    const gone = lane.queue;
    const turn = lane.decided === true ? undefined : lane.inFlight;
    if (gone.length === 0 && turn === undefined) continue;
    commands.push(...saveAll(gone, 'dead', LEFT));
    // Dead from now on and not from the end of the turn: a crash between the two must not bring them back.
    if (turn !== undefined) commands.push(...saveAll(flying(lane), 'dead', LEFT), { type: 'cut_short', turnId: turn.turnId, gently: false });
    changed.push([key, turn === undefined ? { ...lane, queue: [] } : { ...lane, queue: [], decided: true }]);
  }
  return { state: withLanes(state, channelId, changed), commands };
}

/** Done from now on, for the same reason. Under the thread policy these may be several turns. */
function cancel(state: InboxState, { channelId, outcome }: Extract<InboxInput, { type: 'cancelled' }>): InboxStep {
  const commands: InboxCommand[] = [];
  const changed: (readonly [string, HeldLane])[] = [];
  for (const [key, lane] of lanesIn(state, channelId).lanes) {
    const turn = lane.inFlight;
    if (turn === undefined || lane.decided === true) continue;
    commands.push(...saveAll(flying(lane), 'done', outcome), { type: 'cut_short', turnId: turn.turnId, gently: true });
    changed.push([key, { ...lane, decided: true }]);
  }
  return { state: withLanes(state, channelId, changed), commands };
}
