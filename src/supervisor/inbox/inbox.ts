/**
 * The inbox of one agent as its state in memory and its rows: a step, the commit of what it saves, and only then its
 * commands (commit before act). The driver and the replay of a recorded stream step through it alike.
 * Never: performs a command. One call at a time; the caller sees to that.
 */
import type { AgentLink } from '../../broker/index.ts';
import type { Clock, Milliseconds } from '../../model/index.ts';
import type { Store } from '../../store/index.ts';
import type { InboxSettings } from './entry.ts';
import { stepInbox } from './machine.ts';
import type { InboxCommand, InboxInput } from './machine.ts';
import { saveStatement } from './rows.ts';
import { emptyInbox, isEmptyInbox } from './state.ts';
import type { InboxState } from './state.ts';
import { takeUpInbox } from './take-up.ts';

export interface InboxOptions {
  readonly settings: InboxSettings;
  readonly store: Store;
  readonly link: Pick<AgentLink, 'pubkey' | 'publishedIn'>;
  readonly clock: Clock;
  /** Told of each step when it is on disk, before its commands are performed. Must not throw. */
  readonly onMoved?: (move: InboxMove) => void;
}

/** One input of the machine, when it was taken, and what the machine said. */
export interface InboxMove {
  readonly input: InboxInput;
  readonly atMs: Milliseconds;
  readonly commands: readonly InboxCommand[];
  /** Nothing waits and nothing is in a turn after it. */
  readonly isEmpty: boolean;
}

export class Inbox {
  readonly #options: InboxOptions;
  #state: InboxState;

  constructor(options: InboxOptions) {
    this.#options = options;
    this.#state = emptyInbox(options.settings);
  }

  get state(): InboxState {
    return this.#state;
  }

  /** What the last run left, as an input; see `takeUpInbox`. */
  async left(signal: AbortSignal): Promise<Extract<InboxInput, { type: 'restored' }> | undefined> {
    const { store, link, clock } = this.#options;
    return takeUpInbox({ store, link, clock, signal });
  }

  /**
   * Steps through `inputs` and commits every change at once. Rejects, with nothing changed, when the store does;
   * otherwise what it saved is on disk and the commands, in order, are to be performed.
   */
  async advance(inputs: readonly InboxInput[]): Promise<readonly InboxCommand[]> {
    const { clock, store, link, onMoved } = this.#options;
    const moves: InboxMove[] = [];
    let state = this.#state;
    for (const input of inputs) {
      const atMs = clock.now();
      const step = stepInbox(state, input, atMs);
      state = step.state;
      moves.push({ input, atMs, commands: step.commands, isEmpty: isEmptyInbox(state) });
    }
    const commands = moves.flatMap((move) => move.commands);
    const saves = commands.flatMap((command) => (command.type === 'save' ? [command.save] : []));
    if (saves.length > 0) await store.write(...saves.map((save) => saveStatement(link.pubkey, save)));
    this.#state = state;
    for (const move of moves) onMoved?.(move);
    return commands;
  }
}
