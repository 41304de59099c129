/** Waiting for a condition instead of for time: whoever changes something calls `look`. */
const PATIENCE_MS = 30_000;

export class Watch {
  readonly #describe: () => string;
  #waiting: (() => void)[] = [];

  /** `describe` tells what there is when something expected did not come. */
  constructor(describe: () => string) {
    this.#describe = describe;
  }

  look(): void {
    for (const look of this.#waiting.splice(0)) look();
  }

  /** Resolves with the first value that is neither undefined nor false. */
  async until<T>(what: string, find: () => T | undefined | false, patienceMs = PATIENCE_MS): Promise<T> {
    const patience = { over: false };
    const timer = setTimeout(() => {
      patience.over = true;
      this.look();
    }, patienceMs);
    try {
      for (;;) {
        const found = find();
        if (found !== undefined && found !== false) return found;
        if (patience.over) throw new Error(`${what}: not seen within ${patienceMs} ms; there is ${this.#describe()}`);
        await new Promise<void>((resolve) => { this.#waiting.push(resolve); });
      }
    } finally {
      clearTimeout(timer);
    }
  }
}
