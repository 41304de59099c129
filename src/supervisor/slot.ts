/**
 * One place for an agent process: it starts the program and keeps it alive under the breaker, one life after another.
 * A slot runs one turn at a time; a lane stays with the slot that holds its session.
 *
 *   backoff or broken (the breaker waits) → starting → idle ⇄ busy → the process ends → backoff …    stopping is for good
 *   Started after the slot had given up, a process has to live for ten seconds before it is idle.
 *   Put to sleep, it ends its process as at a stop and begins none, in whatever phase it was, until it is woken.
 */
import type { Dialect } from '../../adapters/index.ts';
import { newBreaker, nextStartAt, startAgent, stepBreaker } from '../acp/index.ts';
import type { BreakerInput, BreakerState, LaunchPlan, Leak, LineTap, OpenPermissionDesk, ProcessEnd } from '../acp/index.ts';
import type { AgentLink, SessionCredential } from '../broker/index.ts';
import { later } from '../model/index.ts';
import type { Clock, Log, Milliseconds, Random } from '../model/index.ts';
import type { Store } from '../store/index.ts';
import { Life } from './life.ts';

export interface SlotOptions {
  readonly version: string;
  readonly link: AgentLink;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly store: Store;
  readonly plan: (credential: SessionCredential) => LaunchPlan;
  readonly dialect: Dialect;
  readonly maxSessions: number;
  readonly permission: OpenPermissionDesk;
  /** What listens to the process that is about to start with that environment. */
  readonly tap?: (env: LaunchPlan['env']) => LineTap;
  readonly onLeak?: (leak: Leak) => void;
  readonly onChange: (change: SlotChange) => void;
}

export type SlotChange =
  | { readonly type: 'started'; readonly pid: number; readonly program: string }
  | { readonly type: 'ended'; readonly pid: number; readonly end: ProcessEnd }
  | { readonly type: 'failed'; readonly end: ProcessEnd; readonly retryInMs: number }
  /** The breaker has given up for some minutes; told once, until a process has worked again. */
  | { readonly type: 'broken' }
  | { readonly type: 'recovered' }
  /** A process that was started after the slot had given up has lived for a while: from here on it gets turns. */
  | { readonly type: 'proven' };

/** How long a process must live that was started after its slot had given up: one that only dies is given no turn. */
const PROOF_MS = 10_000;

/** `backoff` waits for the next start; `broken` has given up for some minutes; `asleep` waits for work. */
export type SlotPhase = 'asleep' | 'backoff' | 'broken' | 'starting' | 'idle' | 'busy' | 'stopping';

export class Slot {
  readonly #options: SlotOptions;
  #stopped = false;
  /** Aborts when there is to be no process: at the stop, and when it is put to sleep. */
  #shift = new AbortController();
  #breaker: BreakerState;
  #life: Life | undefined;
  #lastEnd: string | undefined;
  #pausing = false;
  #isUnproven = false;
  /** Ends the wait between two lives. */
  #endPause: (() => void) | undefined;
  #kept: Promise<void> = Promise.resolve();

  constructor(options: SlotOptions) {
    this.#options = options;
    this.#breaker = newBreaker(options.clock.now());
  }

  get life(): Life | undefined {
    return this.#life;
  }

  get phase(): SlotPhase {
    if (this.#stopped) return 'stopping';
    const status = this.#life?.status;
    if (status === 'idle' && this.#isUnproven) return 'starting';
    if (status === 'idle' || status === 'busy') return status;
    if (this.#isOff()) return this.#life === undefined ? 'asleep' : 'stopping';
    if (this.#breaker.status === 'open') return 'broken';
    return this.#pausing ? 'backoff' : 'starting';
  }

  /** How the last process ended, in a word, for `skep status`. */
  get lastEnd(): string | undefined {
    return this.#lastEnd;
  }

  /** Begins to keep a process alive, or to sleep. A rejection (the disk) is told to `onFatal`. */
  open(onFatal: (error: unknown) => void, asleep = false): void {
    if (asleep) this.#shift.abort();
    this.#kept = this.#keepAlive().catch(onFatal);
  }

  /** A turn of this life went well: the breaker forgets earlier crashes. */
  ranWell(life: Life): void {
    if (this.#life === life) this.#step({ type: 'worked' });
  }

  /** Ends the process and starts no other. Twice is once. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#off();
    await this.#kept;
  }

  /** Ends the process in the same order and starts no other before it is woken. From here on it gets no turn. */
  sleep(): void {
    void this.#off();
  }

  wake(): void {
    if (this.#stopped || !this.#isOff()) return;
    this.#shift = new AbortController();
    this.#endPause?.();
  }

  async #off(): Promise<void> {
    this.#shift.abort();
    this.#endPause?.();
    await this.#life?.retire('retired');
  }

  async #keepAlive(): Promise<void> {
    while (!this.#stopped) {
      const atMs = this.#isOff() ? 'woken' : nextStartAt(this.#breaker);
      // Looked at anew after each wait: it may have been cut short.
      if (atMs === 'woken' || (atMs !== undefined && atMs > this.#options.clock.now())) await this.#pauseUntil(atMs);
      else await this.#live();
    }
  }

  async #live(): Promise<void> {
    const { link, clock, random, log, store, plan, dialect, permission, version, tap, onLeak, onChange } = this.#options;
    const { signal } = this.#shift;
    const credential = link.openSession();
    const launch = plan(credential);
    const onLine = tap?.(launch.env);
    const started = await startAgent({
      plan: launch, dialect, version, permission, clock, log, store, signal, ...(onLine && { onLine }), ...(onLeak && { onLeak }),
    });
    if (!started.ok) {
      link.closeSession(credential.sessionId);
      if (signal.aborted) return;
      this.#lastEnd = started.end.how;
      this.#step({ type: 'spawn_failed' });
      onChange({ type: 'failed', end: started.end, retryInMs: this.#retryInMs() });
      return;
    }
    const { process } = started;
    const life = new Life(process, credential, link, this.#options.maxSessions);
    this.#step({ type: 'started' });
    this.#life = life;
    const endProof = this.#breaker.status === 'probing' ? this.#prove() : undefined;
    onChange({ type: 'started', pid: process.pid, program: process.agentInfo.name });
    // The stop may have come while the program started, when there was no life yet to end.
    if (signal.aborted) await life.retire('retired');
    const end = await process.ended;
    endProof?.();
    this.#life = undefined;
    this.#lastEnd = end.how;
    this.#step(life.finish() ? { type: 'stopped' } : { type: 'crashed', jitter: random.fraction() });
    onChange({ type: 'ended', pid: process.pid, end });
  }

  /** Until it is over, or its end is asked for, the process gets no turn. */
  #prove(): () => void {
    const { clock, onChange } = this.#options;
    this.#isUnproven = true;
    const cancel = clock.wake(later(clock.now(), PROOF_MS), () => {
      this.#isUnproven = false;
      onChange({ type: 'proven' });
    });
    return () => {
      cancel();
      this.#isUnproven = false;
    };
  }

  /** Asked through a method, because it changes while something is awaited. */
  #isOff(): boolean {
    return this.#shift.signal.aborted;
  }

  #step(input: BreakerInput): void {
    const { state, commands } = stepBreaker(this.#breaker, input, this.#options.clock.now());
    this.#breaker = state;
    for (const command of commands) this.#options.onChange({ type: command.type === 'opened' ? 'broken' : 'recovered' });
  }

  #retryInMs(): number {
    return Math.max(0, (nextStartAt(this.#breaker) ?? 0) - this.#options.clock.now());
  }

  async #pauseUntil(atMs: Milliseconds | 'woken'): Promise<void> {
    const { clock } = this.#options;
    this.#pausing = true;
    await new Promise<void>((resolve) => {
      const cancel = atMs === 'woken' ? undefined : clock.wake(atMs, resolve);
      this.#endPause = () => {
        cancel?.();
        resolve();
      };
    });
    this.#pausing = false;
  }
}
