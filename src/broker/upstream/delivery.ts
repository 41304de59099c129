/**
 * One at a time, in order, but for what is urgent: what the subscriptions are handed. Says when so much waits that the socket should not be
 * read, and when half of it is done. Nothing is ever dropped here.
 */
export interface DeliveryOptions {
  /** Called with true when the queue is full, with false when it is half empty again. */
  readonly onPressure: (full: boolean) => void;
  /** A job has rejected; the next one follows all the same. */
  readonly onFailure: (error: unknown) => void;
}

/** Jobs done before the array is cut. */
const COMPACT_AT = 1_024;

export type Job = () => void | Promise<void>;

export class Delivery {
  readonly #options: DeliveryOptions;
  #limit: number;
  #jobs: Job[] = [];
  /** Jobs before it are done: taking from the front of a long array would copy it each time. */
  #next = 0;
  #running = false;
  #full = false;
  #stopped = false;

  constructor(limit: number, options: DeliveryOptions) {
    this.#limit = limit;
    this.#options = options;
  }

  /** An `urgent` job is begun at once, past whatever waits. */
  push(job: Job, urgent = false): void {
    if (this.#stopped) return;
    if (urgent) return void this.#perform(job);
    this.#jobs.push(job);
    this.#measure();
    if (!this.#running) void this.#run();
  }

  /** What is not full under a new limit is read at once: whoever sets a higher one waits for what has not been read yet. */
  setLimit(limit: number): void {
    this.#limit = limit;
    this.#become(this.#waiting >= limit);
  }

  /** Forgets what waits; the job in hand ends by itself. */
  stop(): void {
    this.#stopped = true;
    this.#jobs = [];
    this.#next = 0;
  }

  async #run(): Promise<void> {
    this.#running = true;
    for (let job = this.#take(); job !== undefined; job = this.#take()) {
      this.#measure();
      await this.#perform(job);
    }
    this.#running = false;
  }

  #take(): Job | undefined {
    const job = this.#jobs[this.#next];
    this.#next += 1;
    if (job === undefined || this.#next >= COMPACT_AT) {
      this.#jobs.splice(0, this.#next);
      this.#next = 0;
    }
    return job;
  }

  async #perform(job: Job): Promise<void> {
    try {
      await job();
    } catch (error) {
      this.#options.onFailure(error);
    }
  }

  get #waiting(): number {
    return this.#jobs.length - this.#next;
  }

  #measure(): void {
    this.#become(this.#full ? this.#waiting > this.#limit / 2 : this.#waiting >= this.#limit);
  }

  #become(full: boolean): void {
    if (full === this.#full) return;
    this.#full = full;
    this.#options.onPressure(full);
  }
}
