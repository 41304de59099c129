/**
 * Drives one prompt: feeds the machine, keeps its one timer, adds up what the agent says.
 *
 * An update counts from the moment the prompt is sent (`open`) until the line that answers it; what comes before or
 * after is nobody's and goes nowhere. `seal` is called while that line is handled, so a later line of the same read is
 * late.
 */
import type { Clock, Milliseconds } from '../model/index.ts';
import { later, settleable, unreachable } from '../model/index.ts';
import { outputCounter } from './output.ts';
import type { OutputCounter } from './output.ts';
import type { PromptOutcome } from './ports.ts';
import { startTurn, stepTurn, turnDeadline } from './turn-machine.ts';
import type { TurnBounds, TurnCommand, TurnInput, TurnState } from './turn-machine.ts';
import type { Update } from './updates.ts';

interface TurnParts {
  readonly bounds: TurnBounds;
  readonly maxTextBytes: number;
  readonly clock: Clock;
  readonly sendCancel: (overtime: boolean) => void;
  readonly kill: () => void;
}

export class Turn {
  /** Settles once, never rejects. */
  readonly outcome: Promise<PromptOutcome>;
  #hardAt: Milliseconds;
  readonly #parts: TurnParts;
  readonly #seen: OutputCounter;
  readonly #settle: (outcome: PromptOutcome) => void;
  #state: TurnState;
  #hearing = false;
  #failing = false;
  #sealed = false;
  #asks = 0;
  #disarm: (() => void) | undefined;
  #armedAt: number | undefined;

  constructor(parts: TurnParts) {
    this.#parts = parts;
    this.#seen = outputCounter(parts.maxTextBytes);
    const { promise, resolve } = settleable<PromptOutcome>();
    this.outcome = promise;
    this.#settle = resolve;
    const now = parts.clock.now();
    this.#hardAt = later(now, parts.bounds.hardTimeoutMs);
    this.#state = startTurn(parts.bounds, now);
    this.#arm();
  }

  /** The turn is over by then; a steer that the agent took moves it. */
  get hardAt(): Milliseconds {
    return this.#hardAt;
  }

  /** True from the cancel on, and from the agent's own end: nothing it asks for in this turn is granted any more. */
  get closing(): boolean {
    return this.#sealed || (this.#state.status !== 'running' && this.#state.status !== 'unsent');
  }

  /** True while the agent works at the prompt and was not asked to stop. */
  get running(): boolean {
    return this.#state.status === 'running';
  }

  /** A tool call of it goes on, or the agent waits for the answer to what it asked. */
  get isAtWork(): boolean {
    return this.#seen.toolsOpen > 0 || this.#asks > 0;
  }

  /** The agent asks the client something; the function it returns says that it has its answer. */
  beginAsk(): () => void {
    this.#asks += 1;
    return () => { this.#asks -= 1; };
  }

  take(input: TurnInput): void {
    const { state, commands } = stepTurn(this.#state, input, this.#parts.clock.now());
    this.#state = state;
    if ('hardAt' in state) this.#hardAt = state.hardAt;
    for (const command of commands) this.#perform(command);
    this.#arm();
  }

  /** False when the turn has not begun to speak, or its output is complete: the update belongs to no turn. */
  update(update: Update): boolean {
    if (this.#hearing) this.#seen.add(update);
    return this.#hearing;
  }

  /**
   * The prompt is about to be sent: from here on what the agent says is of this turn. False when the turn has ended
   * before: then it must not be sent.
   */
  open(): boolean {
    this.take({ type: 'sent' });
    this.#hearing = this.running;
    return this.#hearing;
  }

  /** A sign that the turn fails, or that it does not; undefined is none. */
  sign(failing: boolean | undefined): void {
    if (this.#hearing && failing !== undefined) this.#failing = failing;
  }

  get failing(): boolean {
    return this.#failing;
  }

  /** What the agent has said so far. */
  get text(): string {
    return this.#seen.output().text;
  }

  seal(): void {
    this.#hearing = false;
    this.#sealed = true;
  }

  #perform(command: TurnCommand): void {
    switch (command.type) {
      case 'send_cancel':
        return this.#parts.sendCancel(this.#state.status === 'cancelling' && this.#state.cause === 'hard_timeout');
      case 'kill':
        return this.#parts.kill();
      case 'settle':
        if (this.#state.status === 'ended') this.#settle({ ...this.#state.end, seen: this.#seen.output() });
        return;
      default:
        return unreachable(command);
    }
  }

  /** One timer, for the earliest deadline. A line only moves the deadline; the timer finds that out when it fires. */
  #arm(): void {
    const deadline = turnDeadline(this.#state);
    if (this.#armedAt !== undefined && deadline !== undefined && this.#armedAt <= deadline) return;
    this.#disarm?.();
    this.#disarm = undefined;
    this.#armedAt = deadline;
    if (deadline === undefined) return;
    this.#disarm = this.#parts.clock.wake(deadline, () => {
      this.#armedAt = undefined;
      this.take({ type: 'time' });
    });
  }
}
