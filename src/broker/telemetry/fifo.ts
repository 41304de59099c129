/**
 * A queue whose members may also leave from its middle: they say so (`gone`), and are passed over. Each step costs the
 * same on average, however long the queue is, and what has left is not kept for long.
 */
interface Leaving {
  readonly gone: boolean;
}

/** Members that have left are swept out when there are more of them than this, and than of those who are there. */
const MAX_LEFT = 64;

export class Fifo<T extends Leaving> {
  #items: T[] = [];
  #head = 0;
  #size = 0;

  /** Those who are there. */
  get size(): number {
    return this.#size;
  }

  push(item: T): void {
    this.#items.push(item);
    this.#size += 1;
  }

  /** To be called for each member whose `gone` has become true. */
  left(): void {
    this.#size -= 1;
    if (this.#items.length - this.#size > Math.max(MAX_LEFT, this.#size)) {
      this.#items = this.all();
      this.#head = 0;
    }
  }

  first(): T | undefined {
    while (this.#items[this.#head]?.gone === true) this.#head += 1;
    return this.#items[this.#head];
  }

  /** In order. */
  all(): T[] {
    return this.#items.slice(this.#head).filter(({ gone }) => !gone);
  }
}
