/**
 * What is remembered of an agent's starts, on its way into its memory on the relay: kept before the agent is started,
 * written once a process of it has started, tried again until it is stored (NIP-AP "Launch records"). Beside it the
 * agent's private copy of its definition, at `mem/persona`.
 */
import type { MemoryDesk } from '../broker/index.ts';
import { within } from '../model/index.ts';
import type { Clock } from '../model/index.ts';
import { mergeSnapshot, SNAPSHOT_SLUG, writeRecords } from '../persona/index.ts';
import type { DefinitionHead, Engram } from '../persona/index.ts';
import type { RecordRows } from './rows.ts';

/** What a write under way may still take at the end. */
const LAST_WRITE_MS = 1_000;

export interface RecordsOptions {
  readonly rows: RecordRows;
  readonly memory: () => MemoryDesk;
  readonly steadyClock: Clock;
  /** The disk, or a bug. */
  readonly onFatal: (error: unknown) => void;
}

export class Records {
  readonly #options: RecordsOptions;
  readonly #closing = new AbortController();
  #writing: Promise<unknown> | undefined;
  #isAsked = false;
  #definition: DefinitionHead | undefined;
  #pending = 0;

  constructor(options: RecordsOptions) {
    this.#options = options;
  }

  /** Started, and not known to be stored. */
  get pending(): number {
    return this.#pending;
  }

  /** Takes up what an earlier life left. */
  async open(): Promise<void> {
    await this.#options.rows.dropUnstarted();
    this.#pending = (await this.#options.rows.all()).length;
    if (this.#pending > 0) this.#write();
  }

  /** Durable when its promise has settled. */
  prepare(record: Engram): Promise<void> {
    return this.#options.rows.keep(record);
  }

  /**
   * A process of that run has started: whatever it is handed is committed after this. `definition` is what the agent
   * keeps a copy of.
   */
  started({ slug }: Engram, definition: DefinitionHead | undefined): void {
    this.#definition = definition;
    this.#pending += 1;
    this.#track(this.#options.rows.started(slug).then(() => { this.#write(); }));
  }

  /** What is not stored then is at the next start. */
  async close(): Promise<void> {
    this.#closing.abort();
    if (this.#writing !== undefined) await within(this.#options.steadyClock, LAST_WRITE_MS, this.#writing.catch(() => undefined));
  }

  #write(): void {
    this.#isAsked = true;
    if (this.#writing !== undefined || this.#isOver()) return;
    const writing = this.#writeAll();
    this.#writing = writing;
    this.#track(writing.finally(() => {
      this.#writing = undefined;
      if (this.#isAsked) this.#write();
    }));
  }

  async #writeAll(): Promise<void> {
    this.#isAsked = false;
    const { rows, memory, steadyClock: clock } = this.#options;
    const counting = { ...rows, forget: async (slug: string) => { await rows.forget(slug); this.#pending -= 1; } };
    const { signal } = this.#closing;
    await writeRecords(counting, { put: ({ slug, value }) => memory().write(slug, value) }, { clock, signal });
    if (!this.#isOver()) await this.#copyDefinition();
  }

  /** Once a start, without a second try: the next start copies it, and the agent may have one of its own. */
  async #copyDefinition(): Promise<void> {
    const head = this.#definition;
    this.#definition = undefined;
    if (head === undefined) return;
    const memory = this.#options.memory();
    const found = await memory.read(SNAPSHOT_SLUG);
    const merged = found.ok ? mergeSnapshot(found.value, head) : undefined;
    if (merged !== undefined) await memory.write(SNAPSHOT_SLUG, merged);
  }

  #isOver(): boolean {
    return this.#closing.signal.aborted;
  }

  #track(work: Promise<unknown>): void {
    work.catch((error: unknown) => { if (!this.#isOver()) this.#options.onFatal(error); });
  }
}
