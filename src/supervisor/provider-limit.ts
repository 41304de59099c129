/**
 * The limit of one agent's provider, kept over restarts: the only reader and writer of the table `provider_limits`, and
 * the one notice of it, in the thread of the message that met it first.
 */
import type { AgentLink, OwnMessage } from '../broker/index.ts';
import { milliseconds } from '../model/index.ts';
import type { Clock, Milliseconds } from '../model/index.ts';
import { sql } from '../store/index.ts';
import type { Store } from '../store/index.ts';
import { limitNotice } from './answer.ts';
import type { Entry } from './inbox/entry.ts';
import { mayBegin, stepLimit } from './limit-machine.ts';
import type { LimitInput, LimitState } from './limit-machine.ts';

export interface ProviderLimitOptions {
  readonly store: Store;
  readonly link: Pick<AgentLink, 'pubkey'>;
  readonly clock: Clock;
}

/** A turn that has shown something of the provider of the model. `entry`: its first message, where it had one. */
export interface HeededTurn {
  readonly turnId: string;
  readonly beganAt: Milliseconds;
  readonly entry?: Entry;
}

export class ProviderLimit {
  readonly #options: ProviderLimitOptions;
  #state: LimitState = { status: 'free' };

  constructor(options: ProviderLimitOptions) {
    this.#options = options;
  }

  /** What the last run knew. */
  async load(): Promise<void> {
    const { store, link } = this.#options;
    const [row] = await store.read(sql('SELECT times, until_ms FROM provider_limits WHERE agent = ?', link.pubkey));
    if (row === undefined) return;
    const { times, until_ms: until } = row;
    if (typeof times !== 'number' || typeof until !== 'number') throw new TypeError('provider_limits: expected two integers');
    this.#state = { status: 'held', times, until: milliseconds(until) };
  }

  /** For `skep status`; undefined while there is none. */
  get held(): { readonly times: number; readonly untilMs: Milliseconds } | undefined {
    return this.#state.status === 'held' ? { times: this.#state.times, untilMs: this.#state.until } : undefined;
  }

  /** When a turn that is ready at `atMs` may begin; undefined where the end of a turn under way has to be awaited. */
  notBefore(atMs: Milliseconds | undefined, flying: number): Milliseconds | undefined {
    const state = this.#state;
    if (state.status === 'free' || atMs === undefined) return atMs;
    if (state.until > this.#options.clock.now()) return state.until > atMs ? state.until : atMs;
    return flying === 0 ? atMs : undefined;
  }

  mayBegin(flying: number): boolean {
    return mayBegin(this.#state, flying, this.#options.clock.now());
  }

  /** On disk when it resolves. The notice that is to be said now: at the first of it, to a person's message, where one met it. */
  async met(input: LimitInput, entry: Entry | undefined): Promise<OwnMessage | undefined> {
    const before = this.#state;
    this.#state = stepLimit(before, input, this.#options.clock.now());
    if (this.#state === before) return undefined;
    await this.#save();
    return before.status === 'free' && entry !== undefined && isPersons(entry) ? limitNotice(entry) : undefined;
  }

  async #save(): Promise<void> {
    const { store, link } = this.#options;
    const state = this.#state;
    await store.write(state.status === 'free'
      ? sql('DELETE FROM provider_limits WHERE agent = ?', link.pubkey)
      : sql('INSERT OR REPLACE INTO provider_limits (agent, times, until_ms) VALUES (?, ?, ?)', link.pubkey, state.times, state.until));
  }
}

/** Agents among themselves are told nothing that they could answer. */
function isPersons({ hops }: Entry): boolean {
  return hops === 0;
}
