/**
 * Drives the rest machine of one agent: who has work, the clock, and the processes that are started and let go.
 * Never: ends a process that is in use.
 */
import type { Clock } from '../model/index.ts';
import { newRest, restDueMs, stepRest } from './rest-machine.ts';
import type { RestInput, RestState } from './rest-machine.ts';

/** `inbox`: messages that wait or are in a turn. `own`: a turn that no message asked for. */
export type Work = 'inbox' | 'own';

/** What an agent's settings say of its sleep. */
export interface RestSettings {
  /** No process is started before there is work. */
  readonly lazy: boolean;
  /** Absent: it never sleeps for want of work. */
  readonly sleepAfterMs?: number;
}

export interface RestOptions {
  readonly settings: RestSettings;
  /** For the deadline: nobody sets it. */
  readonly clock: Clock;
  readonly inUse: () => boolean;
  readonly start: () => void;
  readonly stop: () => void;
}

export class Rest {
  readonly #options: RestOptions;
  readonly #work = new Set<Work>();
  #state: RestState;
  #cancel: (() => void) | undefined;
  #closed = false;

  constructor(options: RestOptions) {
    this.#options = options;
    const { settings: { lazy, sleepAfterMs }, clock } = options;
    this.#state = newRest(lazy, sleepAfterMs, clock.now());
  }

  get isAsleep(): boolean {
    return this.#state.status === 'asleep';
  }

  open(): void {
    this.#arm();
  }

  has(work: Work, isThere: boolean): void {
    if (isThere === this.#work.has(work)) return;
    if (isThere) this.#work.add(work);
    else this.#work.delete(work);
    this.#feed({ type: this.#work.size > 0 ? 'work' : 'quiet' });
  }

  close(): void {
    this.#closed = true;
    this.#cancel?.();
  }

  #feed(input: RestInput): void {
    if (this.#closed) return;
    const { settings: { sleepAfterMs }, clock, start, stop } = this.#options;
    const { state, command } = stepRest(this.#state, input, sleepAfterMs, clock.now());
    this.#state = state;
    this.#arm();
    if (command === 'start') start();
    else if (command === 'stop') stop();
  }

  #arm(): void {
    const { clock, inUse } = this.#options;
    const dueMs = restDueMs(this.#state);
    this.#cancel?.();
    this.#cancel = dueMs === undefined ? undefined : clock.wake(dueMs, () => { this.#feed({ type: 'tick', inUse: inUse() }); });
  }
}
