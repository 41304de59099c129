/** Items to the one consumer, one at a time, in order. The consumer's first failure is the end of the line. */
import type { FeedConsumer, FeedItem } from '../ports.ts';

export class Line {
  readonly #consume: FeedConsumer;
  readonly #onFailure: (error: unknown) => void;
  #tail: Promise<unknown> = Promise.resolve();
  #ended = false;

  constructor(consume: FeedConsumer, onFailure: (error: unknown) => void) {
    this.#consume = consume;
    this.#onFailure = onFailure;
  }

  /** True when the consumer has taken it; false when the line ended before. Never rejects. */
  push(item: FeedItem): Promise<boolean> {
    const done = this.#tail.then(() => this.#hand(item));
    this.#tail = done;
    return done;
  }

  /** Takes no more; settles when the item in the consumer's hands has. */
  async end(): Promise<void> {
    this.#ended = true;
    await this.#tail;
  }

  async #hand(item: FeedItem): Promise<boolean> {
    if (this.#ended) return false;
    try {
      await this.#consume(item);
      return true;
    } catch (error) {
      this.#ended = true;
      this.#onFailure(error);
      return false;
    }
  }
}
