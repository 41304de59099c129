/**
 * Where an agent began to follow each channel and how far it has read, durable in table `resume`; the only place with
 * that table's SQL. Memory is the truth while the agent runs, one supervisor at a time; the disk follows within
 * seconds. A stale position only widens what is read again, so a failed write is told and tried again, never fatal.
 */
import { asChannelId, asEventId, later, seconds } from '../../model/index.ts';
import type { ChannelId, Clock, EventId, Log, Pubkey, Seconds } from '../../model/index.ts';
import { sql } from '../../store/index.ts';
import type { Row, Statement, Store } from '../../store/index.ts';
import { RESUME_OVERLAP_SEC } from '../ports.ts';
import type { ResumePoint } from '../ports.ts';
import { SAVE_EVERY_MS } from './limits.ts';

/** The row of the agent itself: its very first start, and the newest stamp it has read in any channel. */
const ANYWHERE = '*';
type Place = ChannelId | typeof ANYWHERE;

export interface ResumeOptions {
  readonly store: Pick<Store, 'read' | 'write'>;
  readonly agent: Pubkey;
  readonly clock: Clock;
  readonly log: Log;
}

export class ResumePoints {
  readonly #options: ResumeOptions;
  readonly #points: Map<Place, ResumePoint>;
  readonly #changed = new Set<Place>();
  #cancelWake: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();
  #closed = false;

  private constructor(options: ResumeOptions, points: Map<Place, ResumePoint>) {
    this.#options = options;
    this.#points = points;
  }

  /** Reads what earlier runs left. Rejects with the store's `Failure`. */
  static async load(options: ResumeOptions): Promise<ResumePoints> {
    const rows = await options.store.read(sql(
      'SELECT channel, floor_sec, seen_sec, passed_over FROM resume WHERE agent = ?', options.agent,
    ));
    return new ResumePoints(options, new Map(rows.flatMap(readRow)));
  }

  /** True when the agent has never run on this data directory. */
  get isFirstStart(): boolean {
    return this.#points.size === 0;
  }

  get(channel: ChannelId): ResumePoint | undefined {
    return this.#points.get(channel);
  }

  /** The newest stamp read in any channel; at the very first start, the moment of the start. */
  newestSec(): Seconds {
    const stamps = [...this.#points.values()].map(({ seenSec }) => seenSec);
    return stamps.reduce((one, other) => (one > other ? one : other), seconds(0));
  }

  /** The agent's first start, or a channel's first sight: on disk when it resolves, if the disk takes it. */
  async begin(place: ChannelId | undefined, floorSec: Seconds): Promise<void> {
    this.#points.set(place ?? ANYWHERE, { floorSec, seenSec: floorSec });
    this.#changed.add(place ?? ANYWHERE);
    await this.save();
  }

  /** What the consumer has taken. Never goes back, and is written later; after the close, never. */
  advance(channel: ChannelId, seenSec: Seconds): void {
    for (const place of [channel, ANYWHERE] as const) {
      const point = this.#points.get(place);
      if (point === undefined || point.seenSec >= seenSec) continue;
      this.#points.set(place, withoutOldHistory({ ...point, seenSec }));
      this.#changed.add(place);
    }
    if (this.#changed.size > 0) this.#saveLater();
  }

  /** The first catch-up of a channel is whole, and this is its history. On disk at once, if the disk takes it. */
  passOver(channel: ChannelId, history: ReadonlySet<EventId>): void {
    const point = this.#points.get(channel);
    if (point === undefined || this.#closed) return;
    this.#points.set(channel, withoutOldHistory({ ...point, passedOver: history }));
    this.#changed.add(channel);
    void this.save();
  }

  /** The channels followed now, and those of earlier runs that are not known to be left. */
  channels(): readonly ChannelId[] {
    return [...this.#points.keys()].flatMap((place) => (place === ANYWHERE ? [] : [place]));
  }

  /** Forgotten at once; on disk once the consumer has taken the leaving, so that nobody killed before misses it. */
  async forget(channel: ChannelId, taken: Promise<boolean>): Promise<void> {
    this.#points.delete(channel);
    this.#changed.delete(channel);
    // It may have been joined again meanwhile.
    if (!await taken || this.#closed || this.#points.has(channel)) return;
    this.#changed.add(channel);
    await this.save();
  }

  /** Writes what has changed; what could not be written is tried again later. */
  save(): Promise<void> {
    this.#cancelWake?.();
    this.#cancelWake = undefined;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  /** The last write. Nothing is tried again after it. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.save();
  }

  async #write(): Promise<void> {
    const places = [...this.#changed];
    if (places.length === 0) return;
    this.#changed.clear();
    try {
      await this.#options.store.write(...places.map((place) => this.#statement(place)));
    } catch (error) {
      for (const place of places) this.#changed.add(place);
      this.#options.log.warn('feed: the read positions could not be written', { agent: this.#options.agent, error });
      this.#saveLater();
    }
  }

  #statement(place: Place): Statement {
    const { agent } = this.#options;
    const point = this.#points.get(place);
    if (point === undefined) return sql('DELETE FROM resume WHERE agent = ? AND channel = ?', agent, place);
    return sql(
      `INSERT INTO resume (agent, channel, floor_sec, seen_sec, passed_over) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (agent, channel) DO UPDATE
       SET floor_sec = excluded.floor_sec, seen_sec = excluded.seen_sec, passed_over = excluded.passed_over`,
      agent, place, point.floorSec, point.seenSec,
      point.passedOver === undefined ? null : JSON.stringify([...point.passedOver]),
    );
  }

  #saveLater(): void {
    if (this.#closed) return;
    const { clock } = this.#options;
    this.#cancelWake ??= clock.wake(later(clock.now(), SAVE_EVERY_MS), () => {
      this.#cancelWake = undefined;
      void this.save();
    });
  }
}

/** A read position this far beyond the floor asks for nothing before the floor: there is nothing to remember. */
function withoutOldHistory(point: ResumePoint): ResumePoint {
  const { floorSec, seenSec, passedOver } = point;
  return passedOver !== undefined && seenSec - RESUME_OVERLAP_SEC >= floorSec ? { ...point, passedOver: new Set() } : point;
}

function readRow(row: Row): readonly (readonly [Place, ResumePoint])[] {
  const { channel, floor_sec: floorSec, seen_sec: seenSec, passed_over: passedOver } = row;
  const place = channel === ANYWHERE ? ANYWHERE : asChannelId(String(channel));
  if (place === undefined) return [];
  return [[place, {
    floorSec: seconds(Number(floorSec)),
    seenSec: seconds(Number(seenSec)),
    ...(typeof passedOver === 'string' ? { passedOver: idsOf(passedOver) } : {}),
  }]];
}

function idsOf(text: string): ReadonlySet<EventId> {
  const list: unknown = JSON.parse(text);
  return new Set((Array.isArray(list) ? list : []).flatMap((id) => asEventId(String(id)) ?? []));
}
