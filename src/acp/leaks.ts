/**
 * What of agents is still running although it should not: what even SIGKILL did not end, and what may have escaped. Kept
 * until it has ended, so that it is never silent; at most 64, of which the oldest goes first.
 */
import { excerpt } from '../model/index.ts';
import type { Log } from '../model/index.ts';
import { processTable } from './process-table.ts';
import type { ProcessIdentity, ProcessTable } from './process-table.ts';

export interface Leak extends ProcessIdentity {
  readonly agent: string;
  /** The name of the program, as the system has it; empty where it says none. */
  readonly program: string;
  /** `survives`: it is the agent's, and could not be ended. `escaped`: it may be the agent's; nothing proves it. */
  readonly why: 'survives' | 'escaped';
}

const MAX_LEAKS = 64;

export class LeakBook {
  readonly #log: Log;
  readonly #table: ProcessTable;
  readonly #leaks = new Map<number, Leak>();
  #looking = false;

  constructor(log: Log, table: ProcessTable = processTable()) {
    this.#log = log;
    this.#table = table;
  }

  add(leak: Leak): void {
    const known = this.#leaks.get(leak.pid);
    if (known?.started === leak.started && known.why === leak.why) return;
    const { pid, agent, why } = leak;
    const fields = { agent, pid, program: excerpt(leak.program) };
    if (why === 'survives') this.#log.error('a process of an agent could not be ended', fields);
    else this.#log.warn('a process may have escaped from an agent; it is left alone, because nothing proves whose it is', fields);
    this.#leaks.set(pid, leak);
    const [oldest] = this.#leaks.keys();
    if (this.#leaks.size > MAX_LEAKS && oldest !== undefined) this.#leaks.delete(oldest);
  }

  /** Those that ran at the last look; the next one begins now. */
  list(): readonly Leak[] {
    this.look().catch((error: unknown) => { this.#log.debug('what an agent left could not be looked at', { error: String(error) }); });
    return [...this.#leaks.values()];
  }

  /** Forgets those that have ended. */
  async look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      for (const { pid, started } of [...this.#leaks.values()]) {
        const row = await this.#table.row(pid);
        if (row?.started !== started || row.zombie) this.#leaks.delete(pid);
      }
    } finally {
      this.#looking = false;
    }
  }
}
