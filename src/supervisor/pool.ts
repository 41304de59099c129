/**
 * The process slots of one agent, side by side: which is free, which gets a lane, and whether there is any hope.
 * in: what a slot needs. out: a free process for a turn, changes, what `skep status` shows.
 */
import type { AgentOptions } from './agent-options.ts';
import type { Life } from './life.ts';
import { Slot } from './slot.ts';
import type { SlotChange } from './slot.ts';
import type { AgentSnapshot } from './snapshot.ts';

/** A slot and the process that is in it now. */
export interface FreeProcess {
  readonly slot: Slot;
  readonly life: Life;
}

export class Pool {
  readonly #slots: readonly Slot[];

  constructor(options: AgentOptions, onChange: (change: SlotChange) => void) {
    const { version, link, steadyClock: clock, random, log, store, plan, hint, permission } = options;
    const newSlot = (): Slot => new Slot({ version, link, clock, random, log, store, plan, hint, permission, onChange });
    this.#slots = Array.from({ length: options.processes }, newSlot);
  }

  open(onFatal: (error: unknown) => void): void {
    for (const slot of this.#slots) slot.open(onFatal);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#slots.map((slot) => slot.stop()));
  }

  /** Ends every process without asking. */
  kill(): void {
    for (const slot of this.#slots) slot.life?.kill();
  }

  hasIdle(): boolean {
    return this.#slots.some((slot) => slot.phase === 'idle');
  }

  /** The idle process that holds the lane's session, as Buzz prefers it; else any idle one. */
  idleFor(lane: string): FreeProcess | undefined {
    const idle = this.#slots.flatMap((slot) => (slot.phase === 'idle' && slot.life !== undefined ? [{ slot, life: slot.life }] : []));
    return idle.find(({ life }) => life.holds(lane)) ?? idle[0];
  }

  /** Every slot's breaker has given up for now. */
  isBroken(): boolean {
    return this.#slots.every((slot) => slot.phase === 'broken');
  }

  /** How a process ended last, in a word. */
  lastEnd(): string {
    return this.#slots[0]?.lastEnd ?? 'unknown';
  }

  snapshot(): AgentSnapshot['processes'] {
    return this.#slots.map(({ life, phase: state, lastEnd }) => ({
      ...(life && { pid: life.process.pid }), state, sessions: life?.sessionCount ?? 0,
      ...(lastEnd === undefined ? {} : { lastEnd }),
    }));
  }
}
