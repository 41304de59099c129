/**
 * One followed channel: what is asked of the relay, and in which order its events go on. A relay sends stored events
 * newest first; they wait for EOSE and go on oldest first. The read position moves to a stored event only when the
 * whole catch-up has been taken: before, older ones may still be on their way.
 *
 * What stands before the floor in the first catch-up is history and is remembered by id. In a later one, another event
 * before the floor is new: its author's clock is behind, and it came while we were away.
 */
import { later, secondsOf } from '../../model/index.ts';
import type { ChannelId, Clock, EventId, Pubkey, Seconds } from '../../model/index.ts';
import { oldestFirst, WAKING_KINDS } from '../../nostr/index.ts';
import type { Filter, VerifiedEvent } from '../../nostr/index.ts';
import { RESUME_OVERLAP_SEC } from '../ports.ts';
import type { AgentIdentity, ResumePoint } from '../ports.ts';
import type { SubscriptionSpec } from '../upstream/index.ts';
import { CATCH_UP_MS, MAX_CATCH_UP } from './limits.ts';

export interface ChannelOptions {
  readonly channelId: ChannelId;
  readonly pubkey: Pubkey;
  readonly subscribe: AgentIdentity['subscribe'];
  readonly clock: Clock;
  readonly resumePoint: () => ResumePoint | undefined;
  /** True when the consumer has taken the event. */
  readonly deliver: (event: VerifiedEvent) => Promise<boolean>;
  readonly advance: (seenSec: Seconds) => void;
  /** The first catch-up is whole; these stored events of it are history. */
  readonly passOver: (history: ReadonlySet<EventId>) => void;
}

export class Channel {
  readonly spec: SubscriptionSpec;
  readonly #options: ChannelOptions;
  #stored: VerifiedEvent[] = [];
  /** Found before the floor, as long as the first catch-up is not whole. */
  readonly #history = new Set<EventId>();
  #flushing: Promise<void> = Promise.resolve();
  /** The newest stored event taken in this catch-up. */
  #caughtUpSec: Seconds | undefined;
  #cancelWake: (() => void) | undefined;
  #closed = false;

  constructor(options: ChannelOptions) {
    this.#options = options;
    this.spec = {
      id: `ch-${options.channelId}`,
      filters: () => [channelFilter(options)],
      onEvent: (event, stored) => (stored ? this.#keep(event) : this.#take(event)),
      onEose: () => this.#caughtUp(),
    };
  }

  close(): void {
    this.#closed = true;
    this.#stored = [];
    this.#cancelWake?.();
    this.#cancelWake = undefined;
  }

  async #take(event: VerifiedEvent): Promise<void> {
    if (!this.#closed && await this.#options.deliver(event)) this.#options.advance(this.#plausible(event));
  }

  async #keep(event: VerifiedEvent): Promise<void> {
    if (this.#closed || this.#isHistory(event)) return;
    this.#stored.push(event);
    if (this.#stored.length >= MAX_CATCH_UP) return this.#flush();
    const { clock } = this.#options;
    this.#cancelWake ??= clock.wake(later(clock.now(), CATCH_UP_MS), () => {
      this.#cancelWake = undefined;
      void this.#flush();
    });
  }

  /** EOSE: what waits goes on, and then all that was stored has been read. */
  async #caughtUp(): Promise<void> {
    await this.#flush();
    const seenSec = this.#caughtUpSec;
    this.#caughtUpSec = undefined;
    if (this.#closed) return;
    const { resumePoint, passOver, advance } = this.#options;
    // Too much to remember: then what is before the floor stays history for good.
    if (resumePoint()?.passedOver === undefined && this.#history.size <= MAX_CATCH_UP) passOver(new Set(this.#history));
    this.#history.clear();
    if (seenSec !== undefined) advance(seenSec);
  }

  #isHistory(event: VerifiedEvent): boolean {
    const point = this.#options.resumePoint();
    if (point === undefined || event.created_at >= point.floorSec) return false;
    if (point.passedOver !== undefined) return point.passedOver.has(event.id);
    if (this.#history.size <= MAX_CATCH_UP) this.#history.add(event.id);
    return true;
  }

  #flush(): Promise<void> {
    this.#cancelWake?.();
    this.#cancelWake = undefined;
    const events = this.#stored.sort(oldestFirst);
    this.#stored = [];
    this.#flushing = this.#flushing.then(() => this.#handOn(events));
    return this.#flushing;
  }

  async #handOn(events: readonly VerifiedEvent[]): Promise<void> {
    for (const event of events) {
      if (this.#closed) return;
      // One that was not taken must not be passed over by the position of another.
      if (!await this.#options.deliver(event)) {
        this.close();
        return;
      }
      const seenSec = this.#plausible(event);
      if (this.#caughtUpSec === undefined || seenSec > this.#caughtUpSec) this.#caughtUpSec = seenSec;
    }
  }

  /** A stamp from the future must not close the window on authors whose clocks are right. */
  #plausible(event: VerifiedEvent): Seconds {
    const nowSec = secondsOf(this.#options.clock.now());
    return event.created_at > nowSec ? nowSec : event.created_at;
  }
}

/** From the read position, and behind it by as much as authors' clocks may differ; never from our own clock. */
function channelFilter({ channelId, pubkey, subscribe, resumePoint }: ChannelOptions): Filter {
  const point = resumePoint();
  const tags = new Map([['h', [channelId]], ...(subscribe === 'mentions' ? [['p', [pubkey]] as const] : [])]);
  const filter: Filter = { kinds: WAKING_KINDS, tags };
  if (point === undefined) return filter;
  // A position is never before its floor, but a row may say anything.
  const readSec = Math.max(point.floorSec, point.seenSec);
  return { ...filter, since: Math.max(0, readSec - RESUME_OVERLAP_SEC) };
}
