/** What is known of an agent's subscriptions, for `skep status`. */
import type { Milliseconds } from '../../model/index.ts';

/** Whether the subscriptions of an agent's connection deliver. Times by the clock that nobody sets, Unix milliseconds. */
export interface CanaryReport {
  readonly subscriptions: number;
  /** Those that have handed back the last event that was sent to prove it. */
  readonly hearing: number;
  readonly deaf: readonly { readonly subscription: string; readonly sinceMs: Milliseconds }[];
  /** How often one fell deaf, and how often one was heard again. */
  readonly deafened: number;
  readonly recovered: number;
  /** The relay's no to such an event: what it does not take proves nothing. */
  readonly refusal?: string;
}
