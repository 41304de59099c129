/**
 * What the inbox of one agent holds: lanes, each with the entries that wait and the turn that is under way. Pure: what is
 * asked of it, and how another is made of it. What may happen to it is `machine.ts`, when a turn is ready `ready.ts`.
 */
import type { ChannelId, EventId } from '../../model/index.ts';
import { entriesOf, MAX_PENDING } from './entry.ts';
import type { Batch, CutTurn, Entry, InboxSettings, MergeMode } from './entry.ts';

export interface Lane {
  readonly queue: readonly Entry[];
  readonly inFlight?: Batch;
  /** What becomes of the events of the turn in flight is decided and saved, whatever the turn comes to. */
  readonly decided?: boolean;
  /** Of the queue, in order of arrival: messages that belong to the turn in flight, and are offered to it one by one. */
  readonly offers?: readonly EventId[];
  /** Messages that were given to the turn in flight after its prompt. */
  readonly given?: readonly Given[];
  /** Of turns that were cut short after they had published: evidence of the lane's next turn, where that was what they were cut short for. */
  readonly carried?: CutTurn;
  /** The turn in flight was cut short, to be merged with the messages that belong to it. */
  readonly merging?: MergeMode;
}

/**
 * A message on its way into a turn. `trying`: given, and not answered yet; one at a time. `taken`: the agent says that it
 * has it. `unknown`: the agent said nothing in time. `published` counts what it had published in the turn before.
 */
export interface Given {
  readonly entry: Entry;
  readonly state: 'trying' | 'taken' | 'unknown';
  readonly published: number;
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
    dispatched += flying(lane).length;
  }
  return { queued, dispatched };
}

/** Events of a channel that wait or are in a turn, if only as evidence: no history, or not yet. */
export function heldEvents(state: InboxState, channelId: ChannelId): ReadonlySet<EventId> {
  const held = new Set<EventId>();
  for (const lane of state.lanes.values()) {
    for (const entry of [...lane.queue, ...flying(lane), ...(lane.inFlight?.carried?.entries ?? [])]) {
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
  return lane !== undefined && [...lane.queue, ...flying(lane)].some((entry) => entry.eventId === eventId);
}

/** Every message of the turn in flight: those it began with, and those it was given since. */
export function flying({ inFlight, given = [] }: Lane): readonly Entry[] {
  return inFlight === undefined ? [] : [...entriesOf(inFlight), ...given.map(({ entry }) => entry)];
}

export function enqueue(state: InboxState, entry: Entry): InboxState {
  const lane = state.lanes.get(entry.lane) ?? { queue: [] };
  return withLane(state, entry.lane, { ...lane, queue: [...lane.queue, entry] });
}

export function without(state: InboxState, goes: Entry): InboxState {
  const lane = state.lanes.get(goes.lane);
  if (lane === undefined) return state;
  const { offers = [] } = lane;
  const queue = lane.queue.filter((entry) => entry !== goes);
  return withLane(state, goes.lane, { ...lane, queue, offers: queue.map(({ eventId }) => eventId).filter((eventId) => offers.includes(eventId)) });
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
