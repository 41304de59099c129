/** A turn under way, as its agent's driver sees it. */
import type { Milliseconds } from '../model/index.ts';
import type { Batch } from './inbox/entry.ts';
import type { Life } from './life.ts';
import type { Slot } from './slot.ts';
import { TurnSteers } from './steering/turn-steers.ts';

/**
 * `again`: its messages come back, or the agent has left the channel. `merged`: they go with those that came meanwhile,
 * to the same process if it heeds the cancel: to be answered, or as evidence alone where it had published.
 */
type Cut = 'again' | 'dropped' | 'merged';

export class Flight {
  readonly batch: Batch;
  readonly slot: Slot;
  /** The process that was given the turn; by now it may be gone and another in its slot. */
  readonly life: Life;
  readonly startedAtMs: Milliseconds;
  /** What it is given after its prompt. */
  readonly steers = new TurnSteers();
  #cut: Cut | undefined;
  /** The lane's next turn is in another session. */
  #isLast = false;
  #stage: 'opening' | 'gathering' | 'prompting' = 'opening';
  #sessionId = '';

  constructor(batch: Batch, slot: Slot, life: Life, startedAtMs: Milliseconds) {
    this.batch = batch;
    this.slot = slot;
    this.life = life;
    this.startedAtMs = startedAtMs;
  }

  get isCutShort(): boolean {
    return this.#cut !== undefined;
  }

  /** Nobody wants its answer any more, and nobody is given its messages again; the agent goes on. */
  get isDropped(): boolean {
    return this.#cut === 'dropped';
  }

  /** It makes room for the turn of messages that came meanwhile, which has its own with it. */
  get isMerged(): boolean {
    return this.#cut === 'merged';
  }

  /** Empty until it is prompted. */
  get sessionId(): string {
    return this.#sessionId;
  }

  /** The session is let go of at the end of the turn. */
  get isLast(): boolean {
    return this.#isLast;
  }

  endSession(): void {
    this.#isLast = true;
  }

  /** There is a session; from here on a cut needs no process to end. */
  opened(): void {
    this.#stage = 'gathering';
  }

  /** The prompt is about to be sent in this session. False when the turn is cut short before it began. */
  mayPrompt(sessionId: string): boolean {
    this.#stage = 'prompting';
    this.#sessionId = sessionId;
    return !this.isCutShort;
  }

  /** Ends the turn as soon as it can be ended; the first cause stays, but its owner has the last word. Twice is once. */
  cutShort(cut: Cut): void {
    const isFirst = !this.isCutShort;
    if (isFirst || (this.isMerged && cut === 'dropped')) this.#cut = cut;
    if (isFirst && this.#stage === 'prompting') this.life.process.cancel(this.#sessionId);
    // An agent that does not answer session/new cannot be asked to stop: its process is ended. What is dropped or merged can
    // wait for it, until a stop cannot: it is not prompted, and the process has other sessions.
    if (this.#stage === 'opening' && cut === 'again') void this.life.retire('retired');
  }
}
