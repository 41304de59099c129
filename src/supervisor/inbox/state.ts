/**
 * What the inbox of one agent holds, as is asked of it, and how another is made of it: lanes, each with the entries that
 * wait and the turn that is under way (`lanes.ts`). Pure. What may happen to it is `machine.ts`, when a turn is ready
 * `ready.ts`.
 */
import type { ChannelId, EventId } from '../../model/index.ts';
import { MAX_PENDING } from './entry.ts';
import type { Entry, InboxSettings } from './entry.ts';
import { everyLane, flying, laneOf, lanesIn, NO_LANES, oldestIn, withLane, withLanes } from './lanes.ts';
import type { HeldLane, Lane, Lanes } from './lanes.ts';

export interface InboxState extends Lanes {
  readonly settings: InboxSettings;
}

export function emptyInbox(settings: InboxSettings): InboxState {
  return { ...NO_LANES, settings };
}

/** Nothing waits, and no turn is under way. */
export function isEmptyInbox({ channels }: InboxState): boolean {
  return channels.size === 0;
}

/** Entries that wait and entries in a turn. */
export function inboxCounts({ channels }: InboxState): { readonly queued: number; readonly dispatched: number } {
  let queued = 0;
  let dispatched = 0;
  for (const here of channels.values()) {
    queued += here.queued;
    dispatched += here.dispatched;
  }
  return { queued, dispatched };
}

/** Events of a channel that wait or are in a turn, if only as evidence: no history, or not yet. */
export function heldEvents(state: InboxState, channelId: ChannelId): ReadonlySet<EventId> {
  const held = new Set<EventId>();
  for (const lane of lanesIn(state, channelId).lanes.values()) {
    for (const { eventId } of [...lane.queue, ...flying(lane), ...(lane.inFlight?.carried?.entries ?? [])]) held.add(eventId);
  }
  return held;
}

/** The entry that has waited longest. */
export function oldestWaiting(state: InboxState): Entry | undefined {
  return oldestIn(everyLane(state));
}

/** The oldest waiting entry of a channel that has more than it may. */
export function overflowing(state: InboxState, channelId: ChannelId): Entry | undefined {
  const { lanes, queued } = lanesIn(state, channelId);
  return queued <= MAX_PENDING ? undefined : oldestIn(lanes.values());
}

export function holds(lane: Lane | undefined, eventId: EventId): boolean {
  return lane !== undefined && [...lane.queue, ...flying(lane)].some((entry) => entry.eventId === eventId);
}

export function enqueue(state: InboxState, entry: Entry): InboxState {
  const lane = laneOf(state, entry) ?? { queue: [] };
  return withLane(state, entry, { ...lane, queue: [...lane.queue, entry] });
}

/** The same of many, in order of arrival: each channel is made anew once. */
export function enqueueAll(state: InboxState, entries: readonly Entry[]): InboxState {
  const queues = new Map<string, [Entry, ...Entry[]]>();
  for (const entry of entries) {
    const queue = queues.get(entry.lane);
    if (queue === undefined) queues.set(entry.lane, [entry]);
    else queue.push(entry);
  }
  const channels = new Map<ChannelId, (readonly [string, HeldLane])[]>();
  let { begun } = state;
  for (const [key, queue] of queues) {
    const [first] = queue;
    const lane = laneOf(state, first) ?? { queue: [] };
    const changed = channels.get(first.channelId) ?? [];
    changed.push([key, { ...lane, queue: [...lane.queue, ...queue], begun }]);
    channels.set(first.channelId, changed);
    begun += 1;
  }
  return [...channels].reduce((next, [channelId, changed]) => withLanes(next, channelId, changed), state);
}

export function without(state: InboxState, goes: Entry): InboxState {
  const lane = laneOf(state, goes);
  if (lane === undefined) return state;
  const queue = lane.queue.filter((entry) => entry !== goes);
  const offered = new Set(lane.offers);
  return withLane(state, goes, { ...lane, queue, offers: queue.map(({ eventId }) => eventId).filter((eventId) => offered.has(eventId)) });
}
