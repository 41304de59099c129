/**
 * The lanes of one agent, channel by channel, and what each holds. Pure. A step makes one channel's lanes anew and never
 * all that wait: under the thread policy every message may be a lane, and each channel has at most `MAX_PENDING` that wait,
 * however many channels there are.
 */
import type { ChannelId, EventId } from '../../model/index.ts';
import { entriesOf } from './entry.ts';
import type { Batch, CutTurn, Entry, MergeMode } from './entry.ts';

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

/** `begun` counts lanes in the order in which they came to hold something: of two whose messages came at once, the first goes first. */
export type HeldLane = Lane & { readonly begun: number };

export interface ChannelLanes {
  /** By key, in the order in which they began. */
  readonly lanes: ReadonlyMap<string, HeldLane>;
  /** Entries that wait in all of them. */
  readonly queued: number;
  /** Entries in a turn. */
  readonly dispatched: number;
}

export interface Lanes {
  /** Those that hold something. */
  readonly channels: ReadonlyMap<ChannelId, ChannelLanes>;
  readonly begun: number;
}

/** Which lane: an entry and a turn say it alike. */
export interface LaneName {
  readonly channelId: ChannelId;
  readonly lane: string;
}

export const NO_LANES: Lanes = { channels: new Map(), begun: 0 };

const NONE: ChannelLanes = { lanes: new Map(), queued: 0, dispatched: 0 };

export function lanesIn({ channels }: Lanes, channelId: ChannelId): ChannelLanes {
  return channels.get(channelId) ?? NONE;
}

export function laneOf(lanes: Lanes, { channelId, lane }: LaneName): Lane | undefined {
  return lanesIn(lanes, channelId).lanes.get(lane);
}

/** All of them, channel by channel. */
export function* everyLane({ channels }: Lanes): Generator<HeldLane> {
  for (const { lanes } of channels.values()) yield* lanes.values();
}

export function laneInTurn({ channels }: Lanes, turnId: string): { readonly lane: Lane; readonly turn: Batch } | undefined {
  for (const { lanes, dispatched } of channels.values()) {
    if (dispatched > 0) for (const lane of lanes.values()) {
      const { inFlight: turn } = lane;
      if (turn?.turnId === turnId) return { lane, turn };
    }
  }
  return undefined;
}

/** A lane with nothing in it is forgotten: under the thread policy there is no end of them. */
export function withLane<State extends Lanes>(state: State, { channelId, lane: key }: LaneName, lane: Lane): State {
  return withLanes(state, channelId, [[key, { ...lane, begun: state.begun }]]);
}

/** Several of one channel at once. One that is there already keeps its `begun`. */
export function withLanes<State extends Lanes>(state: State, channelId: ChannelId, changed: readonly (readonly [string, HeldLane])[]): State {
  const here = lanesIn(state, channelId);
  const lanes = new Map(here.lanes);
  let { queued, dispatched } = here;
  let { begun } = state;
  for (const [key, lane] of changed) {
    const was = lanes.get(key);
    queued += lane.queue.length - (was?.queue.length ?? 0);
    dispatched += flying(lane).length - (was === undefined ? 0 : flying(was).length);
    begun = Math.max(begun, lane.begun + 1);
    if (lane.queue.length === 0 && lane.inFlight === undefined) lanes.delete(key);
    else lanes.set(key, { ...lane, begun: was?.begun ?? lane.begun });
  }
  const channels = new Map(state.channels);
  if (lanes.size === 0) channels.delete(channelId);
  else channels.set(channelId, { lanes, queued, dispatched });
  return { ...state, channels, begun };
}

/** Every message of the turn in flight: those it began with, and those it was given since. */
export function flying({ inFlight, given = [] }: Lane): readonly Entry[] {
  return inFlight === undefined ? [] : [...entriesOf(inFlight), ...given.map(({ entry }) => entry)];
}

/** When what waits longest in it came; never, where nothing waits. */
function arrival({ queue: [first] }: Lane): number {
  return first?.receivedAtMs ?? Number.POSITIVE_INFINITY;
}

/** Whether `lane` is before `other` in the order in which lanes are served: by arrival, oldest first. */
export function isBefore(lane: HeldLane, other: HeldLane | undefined): boolean {
  if (other === undefined) return true;
  const [mine, theirs] = [arrival(lane), arrival(other)];
  return mine < theirs || (mine === theirs && lane.begun < other.begun);
}

/** The entry that has waited longest; undefined where none waits. */
export function oldestIn(lanes: Iterable<HeldLane>): Entry | undefined {
  let oldest: HeldLane | undefined;
  for (const lane of lanes) if (lane.queue.length > 0 && isBefore(lane, oldest)) oldest = lane;
  return oldest?.queue[0];
}
