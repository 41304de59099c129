/**
 * One place for an agent process: it starts the program, keeps it alive under the breaker, and remembers which session
 * of it serves which lane. A slot runs one turn at a time; a lane stays with the slot that holds its session.
 *
 *   phase:  waiting (breaker) → starting → idle ⇄ busy → (process ends) → waiting …          stopped is for good
 */
import { startAgent, stepBreaker, newBreaker } from '../acp/index.ts';
import type { AgentProcess, BreakerState, LaunchPlan, PermissionPolicy, ProcessEnd, PromptHint } from '../acp/index.ts';
import type { AgentLink, SessionCredential, TurnBinding } from '../broker/index.ts';
import { later } from '../model/index.ts';
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
  readonly agentName: string;
  readonly index: number;
  readonly link: AgentLink;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly store: Store;
  readonly plan: (credential: SessionCredential) => LaunchPlan;
  readonly hint: PromptHint;
  readonly permission: PermissionPolicy;
  readonly onChange: (change: SlotChange) => void;
}

export type SlotChange =
  | { readonly type: 'started'; readonly pid: number; readonly program: string }
  | { readonly type: 'ended'; readonly pid: number; readonly end: ProcessEnd }
  | { readonly type: 'failed'; readonly end: ProcessEnd; readonly retryInMs: number };

export type SlotPhase = 'waiting' | 'starting' | 'idle' | 'busy' | 'stopped';

/** Sessions kept for each process; under the thread policy there is no end of threads. */
const MAX_SESSIONS = 256;

export class Slot {
  readonly #options: SlotOptions;
  readonly #sessions = new RecentMap<string, LaneSession>(MAX_SESSIONS);
  #breaker: BreakerState = newBreaker();
  #phase: SlotPhase = 'waiting';
  #process: AgentProcess | undefined;
  #credential: SessionCredential | undefined;
  #stopping = false;
  #retiring = false;
  #endPause: (() => void) | undefined;
  #life: Promise<void> = Promise.resolve();

  constructor(options: SlotOptions) {
    this.#options = options;
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
    if (this.#phase === 'busy') this.#phase = this.#process === undefined || this.#retiring ? 'waiting' : 'idle';
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
    this.#breaker = stepBreaker(this.#breaker, { type: 'ran_well' }, this.#options.clock.now());
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
    this.#stopping = true;
    this.#endPause?.();
    await this.#process?.stop();
    await this.#life;
  }

  async #keepAlive(): Promise<void> {
    while (!this.#stopping) {
      await this.#pauseUntil(this.#breaker.startAtMs);
      if (this.#isStopping()) break;
      await this.#oneLife();
    }
    this.#phase = 'stopped';
  }

  async #oneLife(): Promise<void> {
    const { link, clock, random, log, store, plan, hint, permission, onChange, agentName } = this.#options;
    this.#phase = 'starting';
    const credential = link.openSession();
    const launch = plan(credential);
    const started = await startAgent({ plan: launch, hint, permission, clock, random, log, store });
    if (!started.ok) {
      link.closeSession(credential.sessionId);
      this.#phase = 'waiting';
      const retryAt = this.#crashed('start_failed');
      log.warn('agent program did not start', { agent: agentName, how: started.end.how });
      onChange({ type: 'failed', end: started.end, retryInMs: Math.max(0, retryAt - clock.now()) });
      return;
    }
    this.#credential = credential;
    this.#process = started.process;
    this.#phase = 'idle';
    const { pid } = started.process;
    onChange({ type: 'started', pid, program: started.process.agentInfo.name });
    const end = this.#isStopping() ? await this.#stopNow(started.process) : await started.process.ended;
    link.closeSession(credential.sessionId);
    this.#credential = undefined;
    this.#process = undefined;
    this.#sessions.clear();
    this.#phase = 'waiting';
    if (!this.#isStopping() && !this.#retiring) this.#crashed('crashed');
    this.#retiring = false;
    onChange({ type: 'ended', pid, end });
  }

  async #stopNow(process: AgentProcess): Promise<ProcessEnd> {
    await process.stop();
    return process.ended;
  }

  #crashed(type: 'crashed' | 'start_failed'): Milliseconds {
    const { clock, random } = this.#options;
    this.#breaker = stepBreaker(this.#breaker, { type, jitter: random.fraction() }, clock.now());
    return this.#breaker.startAtMs;
  }

  #pauseUntil(atMs: Milliseconds): Promise<void> {
    const { clock } = this.#options;
    if (atMs <= clock.now()) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = clock.wake(later(atMs, 0), resolve);
      this.#endPause = () => {
        cancel();
        resolve();
      };
    });
  }

  /** Read through a method, because it changes while something is awaited. */
  #isStopping(): boolean {
    return this.#stopping;
  }
}
