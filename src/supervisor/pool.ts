/**
 * The process slots of one agent, side by side: which is free, which gets a lane, and whether there is any hope.
 * in: what a slot needs. out: a free process for a turn, changes and notes of them, what `skep status` shows.
 */
import { describeEnd } from '../acp/index.ts';
import { unreachable } from '../model/index.ts';
import type { ChannelId, Milliseconds } from '../model/index.ts';
import type { PresenceStatus } from '../broker/index.ts';
import type { AgentOptions } from './agent-options.ts';
import type { Life } from './life.ts';
import type { Observation } from './observation.ts';
import type { Permissions } from './permissions.ts';
import { RuntimeWatch } from './runtime-watch.ts';
import { Rest } from './rest.ts';
import type { Work } from './rest.ts';
import type { LaneSession } from './sessions/lane-session.ts';
import { presenceOf } from './signals.ts';
import { Slot } from './slot.ts';
import type { SlotChange } from './slot.ts';
import type { AgentSnapshot } from './snapshot.ts';

/** A slot and the process that is in it now. */
export interface FreeProcess {
  readonly slot: Slot;
  /** Which of the agent's slots it is, counted from 0. */
  readonly index: number;
  readonly life: Life;
}

/** A lane in one process: another process may have a session of the same lane, which is in no turn. */
export interface LaneInLife {
  readonly life: Life;
  readonly lane: string;
}

/** A lane that has a session, and where. */
export interface OpenLane extends LaneInLife {
  readonly session: LaneSession;
}

export class Pool {
  readonly #slots: readonly Slot[];
  readonly #runtime: RuntimeWatch;
  readonly #rest: Rest;
  readonly #tellPresence: (status: PresenceStatus | undefined) => void;

  constructor(options: AgentOptions, permissions: Permissions, onChange: (change: SlotChange) => void, observation?: Observation) {
    const { version, link, steadyClock: clock, random, log, store, plan, dialect, maxSessions } = options;
    const runtime = new RuntimeWatch(options, observation, () => this.#slots.map(({ phase }) => phase));
    this.#runtime = runtime;
    const newSlot = (_: unknown, index: number): Slot => new Slot({
      version, link, clock, random, log, store, plan, dialect, maxSessions, permission: permissions.desk(index),
      ...(options.onLeak && { onLeak: options.onLeak }),
      ...(observation && { tap: (env) => observation.tap(index, env) }),
      onChange: (change) => {
        if (change.type === 'started') observation?.started(index);
        runtime.changed(change);
        tell(change, options);
        this.#showPresence();
        onChange(change);
      },
    });
    this.#tellPresence = (status) => { if (status !== undefined && options.signals?.presence === true) link.presence(status); };
    this.#slots = Array.from({ length: options.processes }, newSlot);
    this.#rest = new Rest({
      settings: options.rest ?? { lazy: false }, clock,
      inUse: () => this.#slots.some(({ phase }) => phase === 'busy'),
      start: () => {
        log.info('the agent wakes: there is work', { agent: options.name });
        this.#each((slot) => { slot.wake(); });
      },
      stop: () => {
        log.info('the agent sleeps: its processes are ended until there is work', { agent: options.name });
        this.#each((slot) => { slot.sleep(); });
      },
    });
  }

  open(onFatal: (error: unknown) => void): void {
    const { isAsleep } = this.#rest;
    this.#runtime.opened(isAsleep);
    for (const slot of this.#slots) slot.open(onFatal, isAsleep);
    this.#showPresence();
    this.#rest.open();
  }

  /** Whether there is work of that sort: without any the processes may be let go, and with some they are started. */
  hasWork(work: Work, isThere: boolean): void {
    this.#rest.has(work, isThere);
  }

  async stop(): Promise<void> {
    this.#rest.close();
    await Promise.all(this.#slots.map((slot) => slot.stop()));
    this.#tellPresence('offline');
  }

  /** Ends every process without asking. */
  kill(): void {
    for (const slot of this.#slots) slot.life?.kill();
  }

  hasIdle(): boolean {
    return this.#slots.some((slot) => slot.phase === 'idle');
  }

  /** The idle process that holds the lane's session, as Buzz prefers it; else any idle one. */
  idleFor(lane: string): FreeProcess | undefined {
    const idle = this.#idle();
    return idle.find(({ life }) => life.holds(lane)) ?? idle[0];
  }

  /** That very process where it is idle, else any idle one. */
  idleIn(life: Life | undefined): FreeProcess | undefined {
    const idle = this.#idle();
    return idle.find((free) => free.life === life) ?? idle[0];
  }

  #idle(): readonly FreeProcess[] {
    return this.#slots.flatMap((slot, index) => (slot.phase === 'idle' && slot.life !== undefined ? [{ slot, index, life: slot.life }] : []));
  }

  /** The open sessions of a channel, in whatever process. */
  sessionsOf(channelId: ChannelId): readonly OpenLane[] {
    return this.#slots.flatMap(({ life }) => life?.lanesOf(channelId).map(([lane, session]) => ({ life, lane, session })) ?? []);
  }

  hasSession(sessionId: string): boolean {
    return this.#slots.some(({ life }) => life?.has(sessionId));
  }

  /** See `Life.closeIdle`. */
  closeIdle(beforeMs: Milliseconds, inUse: readonly LaneInLife[]): Milliseconds | undefined {
    return this.#slots.flatMap(({ life }) => life?.closeIdle(beforeMs, lanesIn(life, inUse)) ?? []).sort((one, other) => one - other)[0];
  }

  /** The next turn in the channel begins a session of its own; one that is in a turn is left to that turn's end. */
  forget(channelId: ChannelId, inTurn: readonly LaneInLife[]): void {
    for (const { life, lane } of this.sessionsOf(channelId)) if (!lanesIn(life, inTurn).has(lane)) life.forget(lane);
  }

  /** Every slot's breaker has given up for now. */
  isBroken(): boolean {
    return this.#slots.every((slot) => slot.phase === 'broken');
  }

  /** How a process ended last, in a word. */
  lastEnd(): string {
    return this.#slots[0]?.lastEnd ?? 'unknown';
  }

  #each(act: (slot: Slot) => void): void {
    for (const slot of this.#slots) act(slot);
    this.#runtime.looked();
    this.#showPresence();
  }

  #showPresence(): void {
    this.#tellPresence(presenceOf(this.#slots.map(({ phase }) => phase)));
  }

  snapshot(): AgentSnapshot['processes'] {
    return this.#slots.map(({ life, phase: state, lastEnd }) => ({
      ...(life && { pid: life.process.pid }), state, sessions: life?.sessionCount ?? 0,
      ...(lastEnd === undefined ? {} : { lastEnd }),
    }));
  }
}

function lanesIn(life: Life, inUse: readonly LaneInLife[]): ReadonlySet<string> {
  return new Set(inUse.filter((one) => one.life === life).map(({ lane }) => lane));
}

function tell(change: SlotChange, { observe, name: agent }: AgentOptions): void {
  switch (change.type) {
    case 'started':
      return observe({ type: 'process_started', agent, pid: change.pid, program: change.program });
    case 'ended':
      return observe({ type: 'process_ended', agent, pid: change.pid, how: describeEnd(change.end) });
    case 'failed':
      return observe({ type: 'process_failed', agent, how: describeEnd(change.end), retryInMs: change.retryInMs });
    case 'broken':
    case 'recovered':
    case 'proven':
      // The notice in the thread says so.
      return;
    default:
      return unreachable(change);
  }
}
