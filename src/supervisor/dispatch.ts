/**
 * When a turn may begin, and the look that hands turns out: at a message, at an end, at a process that is free, at a time.
 *
 * in: the inbox's state, free processes, the relay's, the provider's and the operator's word, the clock. out: `take` inputs.
 * Never: takes a turn outside the mailbox.
 */
import { later } from '../model/index.ts';
import type { AgentOptions } from './agent-options.ts';
import type { Flights } from './flights.ts';
import type { Inbox } from './inbox/inbox.ts';
import type { InboxInput } from './inbox/machine.ts';
import { nextReadyAt } from './inbox/ready.ts';
import { inboxCounts } from './inbox/state.ts';
import type { Operator } from './operator/operator.ts';
import type { Pool } from './pool.ts';
import type { ProviderLimit } from './provider-limit.ts';

/** While the relay is away no turn begins: nobody could read its answer. It is looked for again after this long. */
const RELAY_AWAY_MS = 1_000;

export interface DispatchOptions {
  readonly options: () => AgentOptions;
  readonly inbox: Inbox;
  readonly pool: Pool;
  readonly limit: ProviderLimit;
  readonly operator: Operator;
  readonly flights: Flights;
  /** Aborted when the agent stops: no turn begins after it. */
  readonly signal: AbortSignal;
  /** Does the work when it is its turn; the agent's stop waits for it. */
  readonly mailbox: (work: () => Promise<void>) => void;
  readonly advance: (inputs: readonly InboxInput[]) => Promise<unknown>;
}

export class Dispatch {
  readonly #parts: DispatchOptions;
  #cancelWake: (() => void) | undefined;

  constructor(parts: DispatchOptions) {
    this.#parts = parts;
  }

  /** Hands out turns while a process is free and a turn is ready; then sleeps until one may be. */
  pump(): void {
    const { options, inbox, limit, operator, flights, signal, mailbox, advance } = this.#parts;
    if (signal.aborted) return;
    mailbox(async () => {
      const readyAtMs = nextReadyAt(inbox.state);
      operator.look({
        messagesWait: inboxCounts(inbox.state).queued > 0, limited: !limit.mayBegin(flights.size),
        ...(readyAtMs !== undefined && { readyInMs: Math.max(0, readyAtMs - options().clock.now()) }),
      });
      for (let before = -1; before !== flights.size;) {
        before = flights.size;
        await advance(this.mayTake());
      }
      this.#armWake();
    });
  }

  /** One turn, if one may begin now. */
  mayTake(): readonly InboxInput[] {
    const { options, limit, flights } = this.#parts;
    if (!this.#hasFreeProcess() || !this.#isRelayThere() || !limit.mayBegin(flights.size)) return [];
    return [{ type: 'take', turnId: Buffer.from(options().random.bytes(16)).toString('hex') }];
  }

  close(): void {
    this.#cancelWake?.();
  }

  #hasFreeProcess(): boolean {
    const { signal, operator, pool } = this.#parts;
    return !signal.aborted && !operator.comesFirst && pool.hasIdle();
  }

  #isRelayThere(): boolean {
    return this.#parts.options().link.status().phase === 'ready';
  }

  #armWake(): void {
    const { options, inbox, limit, flights } = this.#parts;
    const { clock } = options();
    this.#cancelWake?.();
    const readyAt = this.#hasFreeProcess() ? nextReadyAt(inbox.state) : undefined;
    const atMs = readyAt === undefined || this.#isRelayThere() ? limit.notBefore(readyAt, flights.size) : later(clock.now(), RELAY_AWAY_MS);
    this.#cancelWake = atMs === undefined ? undefined : clock.wake(atMs, () => { this.pump(); });
  }
}
