/**
 * Drives the operator machine of one agent: what is due is given to a free process, one turn at a time.
 * in: looks (inside the agent's mailbox, where no turn is being handed out), the clock. out: turns, notes, a report.
 * Never: takes a process from a message's turn, gives a turn a second time, or cuts one short that is at work.
 */
import { later, within } from '../../model/index.ts';
import type { Clock, Milliseconds } from '../../model/index.ts';
import type { AgentOptions } from '../agent-options.ts';
import type { Observation } from '../observation.ts';
import type { Permissions } from '../permissions.ts';
import type { FreeProcess, Pool } from '../pool.ts';
import type { HeededTurn } from '../provider-limit.ts';
import type { ProviderWord } from '../settle.ts';
import { newOperator, stepOperator } from './machine.ts';
import type { OperatorInput, OperatorSource, OperatorState, OperatorStep } from './machine.ts';
import { claimInitialPrompt, hadInitialPrompt } from './rows.ts';
import type { OperatorReport } from './settings.ts';
import { runOperatorTurn } from './turn.ts';
import type { OperatorSession } from './turn.ts';

export interface OperatorParts {
  readonly options: () => AgentOptions;
  readonly pool: Pick<Pool, 'hasIdle' | 'idleIn' | 'hasWork'>;
  readonly permissions: Permissions;
  readonly observation: Observation | undefined;
  /** A turn has met a limit of the model's provider, or has not. Resolves when that is on disk. */
  readonly heed: (provider: ProviderWord, turn: HeededTurn) => Promise<void>;
  /** Looks again, inside the mailbox. */
  readonly pump: () => void;
}

/** Where a process waits and no turn may begin, or a message waits for a heartbeat that is at work, it is looked again after this long. */
const NOT_YET_MS = 1_000;

interface Flight {
  readonly source: OperatorSource;
  readonly free: FreeProcess;
  /** Its end, which never rejects. */
  landed: Promise<void>;
  sessionId?: string;
  /** What the process had left behind before it. */
  readonly tracesBefore: number;
  cut?: 'gave_way' | 'stopped';
}

/** `messagesWait`: for whatever. `readyInMs`: until a turn for one of them could begin, if it had a process. */
interface Waiting {
  readonly messagesWait: boolean;
  readonly readyInMs?: number;
  /** The provider of the model is left alone for now. */
  readonly limited: boolean;
}

export class Operator {
  readonly #parts: OperatorParts;
  #state: OperatorState;
  #session: OperatorSession | undefined;
  #flight: Flight | undefined;
  #lastEnd: string | undefined;
  #cancelWake: (() => void) | undefined;
  #status: 'new' | 'open' | 'closed' = 'new';

  constructor(parts: OperatorParts) {
    this.#parts = parts;
    const { operator, steadyClock } = parts.options();
    this.#state = newOperator(operator?.heartbeat?.everyMs, operator?.initial !== undefined, steadyClock.now());
  }

  /** The initial prompt is to be given before any message is. */
  get comesFirst(): boolean {
    return this.#state.initialDue;
  }

  /** Rejects with the store's `Failure`. */
  async open(): Promise<void> {
    const { operator, store, link } = this.#parts.options();
    if (operator?.initial?.when === 'once' && await hadInitialPrompt(store, link.pubkey)) this.#step({ type: 'claimed' });
    if (this.#status === 'new') this.#status = 'open';
    this.#arm();
  }

  /** Inside the mailbox, before messages are handed out. */
  look({ messagesWait, readyInMs, limited }: Waiting): void {
    if (this.#status !== 'open') return;
    const { pool, options } = this.#parts;
    const { run: source, giveWay } = this.#step({
      type: 'look', free: pool.hasIdle(), mayBegin: !limited && options().link.status().phase === 'ready',
      messagesWait, messageDue: readyInMs === 0, silent: this.#isSilent(),
    });
    const free = source === undefined ? undefined : pool.idleIn(this.#session?.life);
    if (source !== undefined && free !== undefined) this.#begin(source, free);
    if (giveWay === true) this.#giveWay();
    pool.hasWork('own', this.#state.status !== 'idle');
    this.#arm(readyInMs);
  }

  /** No more turns; one under way gets `graceMs`, then it is cut short. Resolves when it has ended. */
  async drain(clock: Clock, graceMs: number): Promise<void> {
    this.#status = 'closed';
    this.#cancelWake?.();
    const landed = this.#flight?.landed ?? Promise.resolve();
    if ((await within(clock, graceMs, landed)).status === 'late') this.cutShort();
    await landed;
  }

  cutShort(): void {
    const flight = this.#flight;
    if (flight === undefined || flight.cut === 'stopped') return;
    flight.cut = 'stopped';
    // One that is still opening its session cannot be asked to stop.
    if (flight.sessionId === undefined) void flight.free.life.retire('retired');
    else flight.free.life.process.cancel(flight.sessionId);
  }

  /** A heartbeat that has left nothing behind, and of which nothing goes on but the model's own work. */
  #isSilent(): boolean {
    const flight = this.#flight;
    if (flight?.source !== 'heartbeat') return false;
    const { sessionId, tracesBefore, free: { life } } = flight;
    return life.traces <= tracesBefore && (sessionId === undefined || !life.process.isAtWork(sessionId));
  }

  /** One that is still opening its session is not prompted. */
  #giveWay(): void {
    const flight = this.#flight;
    if (flight === undefined) return;
    flight.cut ??= 'gave_way';
    if (flight.sessionId !== undefined) flight.free.life.process.cancel(flight.sessionId);
  }

  /** Undefined where the operator asks for no such turn. */
  report(): OperatorReport | undefined {
    if (this.#parts.options().operator === undefined) return undefined;
    const { turns, skipped, beatAtMs } = this.#state;
    return {
      turns, skipped, ...(beatAtMs !== undefined && { nextBeatAtMs: beatAtMs }), ...(this.#flight && { running: this.#flight.source }),
      ...(this.#lastEnd !== undefined && { lastEnd: this.#lastEnd }),
    };
  }

  #begin(source: OperatorSource, free: FreeProcess): void {
    const { options, observation, permissions } = this.#parts;
    const { random, name: agent, operator, observe, steadyClock: clock, onFatal, store, link } = options();
    const turnId = Buffer.from(random.bytes(16)).toString('hex');
    free.life.take(turnId);
    const before = this.#session;
    const session = before?.life === free.life ? before : undefined;
    if (session === undefined) before?.life.process.closeSession(before.sessionId);
    const watch = observation?.beginOperatorTurn(free.index, turnId);
    const begunAtMs = clock.now();
    const beganAt = options().clock.now();
    const flight: Flight = { source, free, landed: Promise.resolve(), tracesBefore: free.life.traces };
    this.#flight = flight;
    const mayPrompt = async ({ sessionId }: OperatorSession): Promise<boolean> => {
      if (source === 'initial' && operator?.initial?.when === 'once') await claimInitialPrompt(store, link.pubkey, options().clock.now());
      flight.sessionId = sessionId;
      return flight.cut === undefined;
    };
    const turn = runOperatorTurn({
      options: options(), permissions, free, turnId, source, prompt: operator?.[source]?.prompt ?? '', mayPrompt, gaveWay: () => flight.cut === 'gave_way', ...(session && { session }), ...(watch && { watch }),
    });
    flight.landed = (watch?.through(turn) ?? turn).then(async (report) => {
      if (report.provider !== undefined) await this.#parts.heed(report.provider, { turnId, beganAt });
      this.#session = report.session;
      this.#lastEnd = report.end;
      observe({ type: 'operator_turn_ended', agent, turnId, source, outcome: report.end, ...(report.reason !== undefined && { reason: report.reason }), tookMs: clock.now() - begunAtMs });
    }).catch(onFatal).finally(() => {
      this.#flight = undefined;
      free.life.release(turnId);
      this.#step({ type: 'ended' });
      this.#parts.pump();
    });
  }

  #step(input: OperatorInput): OperatorStep {
    const step = stepOperator(this.#state, input, this.#parts.options().steadyClock.now());
    this.#state = step.state;
    return step;
  }

  #arm(readyInMs?: number): void {
    const { options, pool, pump } = this.#parts;
    const { steadyClock: clock } = options();
    const { initialDue, beatAtMs } = this.#state;
    this.#cancelWake?.();
    const hasMessage = this.#state.status === 'running' && this.#flight?.source === 'heartbeat' && readyInMs !== undefined;
    const lookInMs = hasMessage ? (readyInMs > 0 ? readyInMs : NOT_YET_MS) : initialDue && pool.hasIdle() ? NOT_YET_MS : undefined;
    const atMs = soonest(lookInMs === undefined ? undefined : later(clock.now(), lookInMs), beatAtMs);
    this.#cancelWake = atMs === undefined || this.#status !== 'open' ? undefined : clock.wake(atMs, pump);
  }
}

function soonest(one: Milliseconds | undefined, other: Milliseconds | undefined): Milliseconds | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one < other ? one : other;
}
