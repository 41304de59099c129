/**
 * What one turn was given after its prompt: its ledger, the messages, and whether one is on its way. The end of the
 * prompt waits for that one, so that nothing is decided of a message before it is known what came of it.
 */
import { appendSteer, ledgerManifest, openLedger } from '../../../compiler/index.ts';
import type { CompiledSteer, Ledger, Manifest, TurnInput } from '../../../compiler/index.ts';
import { settleable } from '../../model/index.ts';
import type { EventId } from '../../model/index.ts';
import type { Entry } from '../inbox/entry.ts';

/** A message ready to be given: nothing of it is asked for any more once it is of the turn. */
export interface PreparedSteer {
  readonly entry: Entry;
  readonly input: TurnInput;
  readonly compiled: CompiledSteer;
  /** Messages that the agent had published in the turn before. */
  readonly published: number;
}

/** One that the agent has (`taken`, when it had streamed `textFrom` UTF-16 units), or of which it is not known. */
export type GivenMessage =
  | PreparedSteer & { readonly state: 'taken'; readonly textFrom: number }
  | PreparedSteer & { readonly state: 'unknown' };

export class TurnSteers {
  /** Resolves once: true when the prompt was sent, false when the turn ends without. */
  readonly begun: Promise<boolean>;
  readonly #begin: (sent: boolean) => void;
  readonly #prepared = new Map<EventId, PreparedSteer>();
  readonly #given: GivenMessage[] = [];
  #ledger: Ledger | undefined;
  #tell: (manifest: Manifest) => void = () => undefined;
  /** Until nothing is on its way any more. */
  #held: Promise<unknown> = Promise.resolve();
  #isOver = false;

  constructor() {
    const { promise, resolve } = settleable<boolean>();
    this.begun = promise;
    this.#begin = resolve;
  }

  /** The prompt's bytes have left us; `tell` is told the ledger's manifest at every message that the agent takes. */
  sent(manifest: Manifest, tell: (manifest: Manifest) => void): void {
    this.#ledger = openLedger(manifest);
    this.#tell = tell;
    this.#begin(true);
  }

  /** Of everything the agent was given; undefined where no prompt was sent. */
  get manifest(): Manifest | undefined {
    return this.#ledger && ledgerManifest(this.#ledger);
  }

  get given(): readonly GivenMessage[] {
    return this.#given;
  }

  /** The agent may still act on a message that it did not say it has: it is not to be trusted with another turn. */
  get isDoubtful(): boolean {
    return this.#given.some(({ state }) => state === 'unknown');
  }

  /** The prompt has been answered, or never will be: nothing is given any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  prepare(steer: PreparedSteer): void {
    this.#prepared.set(steer.entry.eventId, steer);
  }

  prepared(eventId: EventId): PreparedSteer | undefined {
    return this.#prepared.get(eventId);
  }

  /** The end of the turn waits until `release` is called. */
  hold(): { readonly release: () => void } {
    const { promise, resolve } = settleable<undefined>();
    // What is late, because it was dropped meanwhile, lets go of nothing but itself.
    this.#held = Promise.all([this.#held, promise]);
    return { release: () => { resolve(undefined); } };
  }

  /** Compiler spec: the ledger has it before its delivery is acknowledged. */
  take(steer: PreparedSteer, textFrom: number): void {
    this.#ledger = this.#ledger && appendSteer(this.#ledger, steer.compiled.layers);
    this.#given.push({ ...steer, state: 'taken', textFrom });
    if (this.manifest !== undefined) this.#tell(this.manifest);
  }

  doubt(steer: PreparedSteer): void {
    this.#given.push({ ...steer, state: 'unknown' });
  }

  /** Resolves when it is known what came of everything that was given. Twice is once. */
  async over(): Promise<void> {
    this.#isOver = true;
    this.#begin(false);
    await this.#held;
  }
}
