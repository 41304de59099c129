/**
 * One place for an agent process: it starts the program, keeps it alive under the breaker, and remembers which session
 * of it serves which lane. A slot runs one turn at a time; a lane stays with the slot that holds its session.
 *
 *   backoff or broken (the breaker waits) → starting → idle ⇄ busy → the process ends → backoff …    stopping is for good
 */
import { newBreaker, nextStartAt, startAgent, stepBreaker } from '../acp/index.ts';
import type {
  AgentProcess, BreakerInput, BreakerState, LaunchPlan, PermissionPolicy, ProcessEnd, StandingHint,
} from '../acp/index.ts';
import type { AgentLink, SessionCredential, TurnBinding } from '../broker/index.ts';
import type { Clock, Log, Milliseconds, Random } from '../model/index.ts';
import type { Store } from '../store/index.ts';
import { RecentMap } from './recent-map.ts';

/** A conversation of the process. `goodTurns` is what makes earlier messages count as delivered. */
export interface LaneSession {
  readonly sessionId: string;
  readonly takesSystemPrompt: boolean;
  goodTurns: number;
  standingSent: boolean;
}

export interface SlotOptions {
  readonly index: number;
  readonly version: string;
  readonly link: AgentLink;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly store: Store;
  readonly plan: (credential: SessionCredential) => LaunchPlan;
  readonly hint: StandingHint;
  readonly permission: PermissionPolicy;
  readonly onChange: (change: SlotChange) => void;
}

export type SlotChange =
  | { readonly type: 'started'; readonly pid: number; readonly program: string }
  | { readonly type: 'ended'; readonly pid: number; readonly end: ProcessEnd }
  | { readonly type: 'failed'; readonly end: ProcessEnd; readonly retryInMs: number }
  /** The breaker has given up for some minutes; told once, until a process has worked again. */
  | { readonly type: 'broken' }
  | { readonly type: 'recovered' };

/** `backoff` waits for the next start; `broken` has given up for some minutes. */
export type SlotPhase = 'backoff' | 'broken' | 'starting' | 'idle' | 'busy' | 'stopping';

/** Sessions kept for each process; under the thread policy there is no end of threads. */
const MAX_SESSIONS = 256;

export class Slot {
  readonly #options: SlotOptions;
  readonly #sessions = new RecentMap<string, LaneSession>(MAX_SESSIONS);
  #breaker: BreakerState;
  #phase: SlotPhase = 'starting';
  #lastEnd: string | undefined;
  #process: AgentProcess | undefined;
  #credential: SessionCredential | undefined;
  readonly #stopping = new AbortController();
  #retiring = false;
  #endPause: (() => void) | undefined;
  #life: Promise<void> = Promise.resolve();

  constructor(options: SlotOptions) {
    this.#options = options;
    this.#breaker = newBreaker(options.clock.now());
  }

  get phase(): SlotPhase {
    return this.#phase;
  }

  get process(): AgentProcess | undefined {
    return this.#process;
  }

  get sessionCount(): number {
    return this.#sessions.size;
  }

  /** How the last process ended, in a word, for `skep status`. */
  get lastEnd(): string | undefined {
    return this.#lastEnd;
  }

  /** Begins to keep a process alive. */
  open(): void {
    this.#life = this.#keepAlive();
  }

  holds(lane: string): boolean {
    return this.#sessions.get(lane) !== undefined;
  }

  /** Marks the slot as taken. Only an idle slot is given a turn. */
  take(): AgentProcess {
    if (this.#phase !== 'idle' || this.#process === undefined) throw new TypeError(`slot ${this.#options.index}: not idle`);
    this.#phase = 'busy';
    return this.#process;
  }

  /** The turn is over; a slot whose process ended meanwhile stays as it is. */
  release(): void {
    if (this.#phase === 'busy') this.#phase = this.#process === undefined || this.#retiring ? 'starting' : 'idle';
  }

  session(lane: string): LaneSession | undefined {
    return this.#sessions.get(lane);
  }

  remember(lane: string, session: LaneSession): void {
    this.#sessions.set(lane, session);
  }

  forget(lane: string): void {
    this.#sessions.delete(lane);
  }

  /** Tells the broker which turn the process is in, or that it is in none. */
  bind(turn: TurnBinding | undefined): void {
    if (this.#credential !== undefined) this.#options.link.bindTurn(this.#credential.sessionId, turn);
  }

  /** A turn went well: the breaker forgets earlier crashes. */
  ranWell(): void {
    this.#step({ type: 'worked' });
  }

  /** Revokes the process's credential at once and ends the process; the next one takes its place. */
  retire(): void {
    if (this.#credential !== undefined) this.#options.link.closeSession(this.#credential.sessionId);
    if (this.#process === undefined || this.#retiring) return;
    this.#retiring = true;
    this.#sessions.clear();
    // The end is awaited by the life of the slot; `stop` never rejects.
    void this.#process.stop();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#endPause?.();
    await this.#process?.stop();
    await this.#life;
  }

  async #keepAlive(): Promise<void> {
    while (!this.#isStopping()) {
      await this.#pauseUntil(nextStartAt(this.#breaker));
      if (!this.#isStopping()) await this.#oneLife();
    }
    this.#phase = 'stopping';
  }

  async #oneLife(): Promise<void> {
    const { link, clock, random, log, store, plan, hint, permission, version, onChange } = this.#options;
    this.#phase = 'starting';
    const credential = link.openSession();
    const { signal } = this.#stopping;
    const started = await startAgent({ plan: plan(credential), hint, version, permission, clock, log, store, signal });
    if (!started.ok) {
      link.closeSession(credential.sessionId);
      if (this.#isStopping()) return;
      this.#lastEnd = started.end.how;
      this.#step({ type: 'spawn_failed' });
      onChange({ type: 'failed', end: started.end, retryInMs: this.#retryInMs() });
      return;
    }
    const { process } = started;
    this.#step({ type: 'started' });
    this.#credential = credential;
    this.#process = process;
    this.#phase = 'idle';
    onChange({ type: 'started', pid: process.pid, program: process.agentInfo.name });
    if (this.#isStopping()) await process.stop();
    const end = await process.ended;
    link.closeSession(credential.sessionId);
    this.#credential = undefined;
    this.#process = undefined;
    this.#sessions.clear();
    this.#lastEnd = end.how;
    const meant = this.#isStopping() || this.#retiring;
    this.#retiring = false;
    this.#step(meant ? { type: 'stopped' } : { type: 'crashed', jitter: random.fraction() });
    onChange({ type: 'ended', pid: process.pid, end });
  }

  #step(input: BreakerInput): void {
    const { state, commands } = stepBreaker(this.#breaker, input, this.#options.clock.now());
    this.#breaker = state;
    if (state.status === 'open') this.#phase = 'broken';
    for (const command of commands) this.#options.onChange({ type: command.type === 'opened' ? 'broken' : 'recovered' });
  }

  #retryInMs(): number {
    return Math.max(0, (nextStartAt(this.#breaker) ?? 0) - this.#options.clock.now());
  }

  #pauseUntil(atMs: Milliseconds | undefined): Promise<void> {
    const { clock } = this.#options;
    if (atMs === undefined || atMs <= clock.now()) return Promise.resolve();
    this.#phase = this.#breaker.status === 'open' ? 'broken' : 'backoff';
    return new Promise((resolve) => {
      const cancel = clock.wake(atMs, resolve);
      this.#endPause = () => {
        cancel();
        resolve();
      };
    });
  }

  /** Read through a method, because it changes while something is awaited. */
  #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }
}
