/** What an operator may ask of an agent without a message, and what is told of it. */
import type { Milliseconds } from '../../model/index.ts';
import type { OperatorSource } from './machine.ts';

export interface OperatorSettings {
  readonly heartbeat?: { readonly everyMs: number; readonly prompt: string };
  /** `once`: never again on this data directory; `start`: at each start. */
  readonly initial?: { readonly prompt: string; readonly when: 'once' | 'start' };
  /** Whether a process goes on with the conversation of the turn before. */
  readonly session: 'kept' | 'fresh';
}

/** For `skep status`; times in Unix milliseconds of the clock for deadlines. */
export interface OperatorReport {
  readonly turns: number;
  /** Beats that were due while a message waited, a turn of this kind ran, or no turn could begin. */
  readonly skipped: number;
  readonly nextBeatAtMs?: Milliseconds;
  readonly running?: OperatorSource;
  /** How the last one ended, in a word. */
  readonly lastEnd?: string;
}
