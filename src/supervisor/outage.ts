/**
 * The one notice of an outage: when every process slot has given up, it is told once, in the thread of the message that
 * has waited longest, until a process has worked again.
 */
import type { OwnMessage } from '../broker/index.ts';
import { outageNotice } from './answer.ts';
import type { Entry } from './inbox/entry.ts';
import type { Pool } from './pool.ts';

export class Outage {
  readonly #pool: Pick<Pool, 'isBroken' | 'lastEnd'>;
  #isTold = false;

  constructor(pool: Pick<Pool, 'isBroken' | 'lastEnd'>) {
    this.#pool = pool;
  }

  /** What is to be said now, `oldest` being the message that has waited longest. It counts as said. */
  notice(oldest: Entry | undefined): OwnMessage | undefined {
    if (this.#isTold || oldest === undefined || !this.#pool.isBroken()) return undefined;
    this.#isTold = true;
    return outageNotice(oldest, this.#pool.lastEnd());
  }

  /** A process has worked: the next outage is another. */
  recovered(): void {
    this.#isTold = false;
  }
}
