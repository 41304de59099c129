/**
 * Frames that wait, bounded in number and bytes. Within a session (a lane) they leave in the order of their `seq`, so
 * that an owner who sees a gap knows of a loss; across sessions the one with the weightiest frame goes first.
 *
 * Under pressure the oldest stream frame goes, then the oldest of the lifecycle, a permission frame last. A permission
 * frame does not wait behind a long stream of its own session either: of what stands before it the newest few stay.
 * So it is, less strictly, with the lifecycle among the frames of no session.
 */
import type { ChannelId, Milliseconds } from '../../model/index.ts';
import type { ObserverFrame } from '../owner-ports.ts';
import { Fifo } from './fifo.ts';

/** A frame with its number and time, as it was told. It is made into text when it is sent. */
export interface Waiting {
  readonly frame: ObserverFrame;
  readonly lane: string;
  readonly seq: number;
  readonly at: Milliseconds;
  readonly bytes: number;
}

export interface QueueBounds {
  readonly maxFrames: number;
  readonly maxBytes: number;
}

/** Stream frames of its session that go before a permission frame: a third of a second at the pace of telemetry. */
const BEFORE_PERMISSION = 16;
/** The same before the word on an owner's command and the like, which belong to no session, as what agents emit does. */
const BEFORE_LIFECYCLE = 128;

/** A place in the queue. What has left is let go of at once, though its place may stay for a while. */
interface Place {
  readonly rank: ObserverFrame['rank'];
  readonly lane: string;
  readonly bytes: number;
  content: Waiting | undefined;
  gone: boolean;
}

export class FrameQueue {
  readonly #bounds: QueueBounds;
  readonly #ranks = { permission: new Fifo<Place>(), lifecycle: new Fifo<Place>(), stream: new Fifo<Place>() };
  readonly #lanes = new Map<string, Fifo<Place>>();
  #bytes = 0;
  #dropped = 0;

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    const { permission, lifecycle, stream } = this.#ranks;
    return permission.size + lifecycle.size + stream.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Frames that gave way, and never left. */
  get dropped(): number {
    return this.#dropped;
  }

  /** A permission frame waits. */
  get isUrgent(): boolean {
    return this.#ranks.permission.size > 0;
  }

  push(waiting: Waiting): void {
    const { lane, bytes, frame: { rank } } = waiting;
    const place: Place = { rank, lane, bytes, content: waiting, gone: false };
    const fifo = this.#lanes.get(lane) ?? new Fifo<Place>();
    this.#lanes.set(lane, fifo);
    fifo.push(place);
    this.#ranks[rank].push(place);
    this.#bytes += bytes;
    if (rank === 'permission') this.#clearTheWay(fifo, BEFORE_PERMISSION);
    if (rank === 'lifecycle' && waiting.frame.sessionId === undefined) this.#clearTheWay(fifo, BEFORE_LIFECYCLE);
    while (this.size > this.#bounds.maxFrames || this.#bytes > this.#bounds.maxBytes) this.#drop(this.#leastWeighty());
  }

  shift(): Waiting | undefined {
    const { permission, lifecycle, stream } = this.#ranks;
    const weightiest = permission.first() ?? lifecycle.first() ?? stream.first();
    const next = weightiest && this.#lanes.get(weightiest.lane)?.first();
    return next && this.#remove(next);
  }

  /** The next one of that channel among those that are first in their session, if it `fits`. */
  shiftOf(channelId: ChannelId, fits: (waiting: Waiting) => boolean): Waiting | undefined {
    const { permission, lifecycle, stream } = this.#ranks;
    const weightiest = permission.first() ?? lifecycle.first() ?? stream.first();
    if (weightiest === undefined) return undefined;
    const before = this.#lanes.get(weightiest.lane);
    for (const lane of [...(before === undefined ? [] : [before]), ...this.#lanes.values()]) {
      const place = lane.first();
      if (place?.content?.frame.channelId === channelId && fits(place.content)) return this.#remove(place);
    }
    return undefined;
  }

  /** Drops stream frames, the oldest first, until `frames` are left or none of them is. */
  shrink(frames: number): void {
    while (this.size > frames && this.#ranks.stream.size > 0) this.#drop(this.#ranks.stream.first());
  }

  clear(): void {
    while (this.size > 0) this.#drop(this.#leastWeighty());
  }

  #leastWeighty(): Place | undefined {
    const { permission, lifecycle, stream } = this.#ranks;
    return stream.first() ?? lifecycle.first() ?? permission.first();
  }

  #clearTheWay(lane: Fifo<Place>, kept: number): void {
    const before = lane.all().filter(({ rank }) => rank === 'stream');
    for (const place of before.slice(0, Math.max(0, before.length - kept))) this.#drop(place);
  }

  #drop(place: Place | undefined): void {
    if (place === undefined) throw new TypeError('telemetry: expected a frame to drop');
    this.#remove(place);
    this.#dropped += 1;
  }

  #remove(place: Place): Waiting | undefined {
    const { content } = place;
    place.content = undefined;
    place.gone = true;
    this.#bytes -= place.bytes;
    this.#ranks[place.rank].left();
    const lane = this.#lanes.get(place.lane);
    lane?.left();
    if (lane?.size === 0) this.#lanes.delete(place.lane);
    return content;
  }
}
