/** A turn under way, as its agent's driver sees it. */
import type { Milliseconds } from '../model/index.ts';
import type { Batch } from './inbox/entry.ts';
import type { Life } from './life.ts';
import type { Slot } from './slot.ts';

export class Flight {
  readonly batch: Batch;
  readonly slot: Slot;
  /** The process that was given the turn; by now it may be gone and another in its slot. */
  readonly life: Life;
  readonly startedAtMs: Milliseconds;
  #isCutShort = false;
  #stage: 'opening' | 'gathering' | 'prompting' = 'opening';
  #sessionId = '';

  constructor(batch: Batch, slot: Slot, life: Life, startedAtMs: Milliseconds) {
    this.batch = batch;
    this.slot = slot;
    this.life = life;
    this.startedAtMs = startedAtMs;
  }

  get isCutShort(): boolean {
    return this.#isCutShort;
  }

  /** There is a session; from here on a cut needs no process to end. */
  opened(): void {
    this.#stage = 'gathering';
  }

  /** The prompt is about to be sent in this session. False when the turn is cut short before it began. */
  mayPrompt(sessionId: string): boolean {
    this.#stage = 'prompting';
    this.#sessionId = sessionId;
    return !this.#isCutShort;
  }

  /** Ends the turn as soon as it can be ended. Twice is once. */
  cutShort(): void {
    if (this.#isCutShort) return;
    this.#isCutShort = true;
    if (this.#stage === 'prompting') this.life.process.cancel(this.#sessionId);
    // An agent that does not answer session/new cannot be asked to stop: its process is ended.
    if (this.#stage === 'opening') void this.life.retire('retired');
  }
}
