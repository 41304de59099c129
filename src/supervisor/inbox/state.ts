/**
 * What the inbox of one agent holds: lanes, each with the entries that wait and the turn that is under way. Pure: what is
 * asked of it, and how another is made of it. What may happen to it is `machine.ts`, when a turn is ready `ready.ts`.
 */
import type { ChannelId, EventId } from '../../model/index.ts';
import { MAX_PENDING } from './entry.ts';
import type { Batch, Entry, InboxSettings } from './entry.ts';

export interface Lane {
  readonly queue: readonly Entry[];
  readonly inFlight?: Batch;
  /** What becomes of the events of the turn in flight is decided and saved, whatever the turn comes to. */
  readonly decided?: boolean;
}

export interface InboxState {
  readonly settings: InboxSettings;
  readonly lanes: ReadonlyMap<string, Lane>;
}

export function emptyInbox(settings: InboxSettings): InboxState {
  return { settings, lanes: new Map() };
}

/** Nothing waits, and no turn is under way. */
export function isEmptyInbox({ lanes }: InboxState): boolean {
  return lanes.size === 0;
}

/** Entries that wait and entries in a turn. */
export function inboxCounts(state: InboxState): { readonly queued: number; readonly dispatched: number } {
  let queued = 0;
  let dispatched = 0;
  for (const lane of state.lanes.values()) {
    queued += lane.queue.length;
    dispatched += lane.inFlight?.entries.length ?? 0;
  }
  return { queued, dispatched };
}

/** Events of a channel that wait or are in a turn: messages to be answered, and so no history yet. */
export function heldEvents(state: InboxState, channelId: ChannelId): ReadonlySet<EventId> {
  const held = new Set<EventId>();
  for (const lane of state.lanes.values()) {
    for (const entry of [...lane.queue, ...(lane.inFlight?.entries ?? [])]) {
      if (entry.channelId === channelId) held.add(entry.eventId);
    }
  }
  return held;
}

/** The entry that has waited longest. */
export function oldestWaiting(state: InboxState): Entry | undefined {
  return oldestOf([...state.lanes.values()].flatMap((lane) => lane.queue.slice(0, 1)));
}

/** The oldest waiting entry of a channel that has more than it may. */
export function overflowing(state: InboxState, channelId: ChannelId): Entry | undefined {
  const queues = [...state.lanes.values()].map((lane) => lane.queue).filter((queue) => queue[0]?.channelId === channelId);
  if (queues.reduce((sum, queue) => sum + queue.length, 0) <= MAX_PENDING) return undefined;
  return oldestOf(queues.flatMap((queue) => queue.slice(0, 1)));
}

export function holds(lane: Lane | undefined, eventId: EventId): boolean {
  const entries = [...(lane?.queue ?? []), ...(lane?.inFlight?.entries ?? [])];
  return entries.some((entry) => entry.eventId === eventId);
}

export function enqueue(state: InboxState, entry: Entry): InboxState {
  const lane = state.lanes.get(entry.lane) ?? { queue: [] };
  return withLane(state, entry.lane, { ...lane, queue: [...lane.queue, entry] });
}

export function without(state: InboxState, goes: Entry): InboxState {
  const lane = state.lanes.get(goes.lane);
  if (lane === undefined) return state;
  return withLane(state, goes.lane, { ...lane, queue: lane.queue.filter((entry) => entry !== goes) });
}

/** A lane with nothing in it is forgotten: under the thread policy there is no end of them. */
export function withLane(state: InboxState, key: string, lane: Lane): InboxState {
  const lanes = new Map(state.lanes);
  if (lane.queue.length === 0 && lane.inFlight === undefined) lanes.delete(key);
  else lanes.set(key, lane);
  return { ...state, lanes };
}

function oldestOf(entries: readonly Entry[]): Entry | undefined {
  return entries.reduce<Entry | undefined>(
    (oldest, entry) => (oldest !== undefined && oldest.receivedAtMs <= entry.receivedAtMs ? oldest : entry),
    undefined,
  );
}
