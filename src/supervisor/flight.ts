/** A turn under way, as its agent's driver sees it. */
import type { ChannelId, Milliseconds } from '../model/index.ts';
import type { Batch } from './inbox/entry.ts';
import type { Life } from './life.ts';
import type { Slot } from './slot.ts';

export class Flight {
  readonly batch: Batch;
  readonly slot: Slot;
  /** The process that was given the turn; by now it may be gone and another in its slot. */
  readonly life: Life;
  readonly startedAtMs: Milliseconds;
  /** Why the turn is to be cut short, if it is; the first cause wins. */
  #cause: 'stop' | 'left' | undefined;
  #sessionId: string | undefined;

  constructor(batch: Batch, slot: Slot, life: Life, startedAtMs: Milliseconds) {
    this.batch = batch;
    this.slot = slot;
    this.life = life;
    this.startedAtMs = startedAtMs;
  }

  get cause(): 'stop' | 'left' | undefined {
    return this.#cause;
  }

  /** The prompt is about to be sent in this session. False when the turn is cut short before it began. */
  mayPrompt(sessionId: string): boolean {
    this.#sessionId = sessionId;
    return this.#cause === undefined;
  }

  cutShort(cause: 'stop' | 'left'): void {
    this.#cause ??= cause;
    if (this.#sessionId !== undefined) this.life.process.cancel(this.#sessionId);
  }

  serves(channelId: ChannelId): boolean {
    return this.batch.channelId === channelId;
  }
}
