/**
 * What the end of a turn means for its session. Pure.
 *
 *   end of the turn                              | the agent has read it | the session
 *   ended, but for refusal                       | yes                   | kept; dropped when it is full, or had its turns
 *   ended: refusal                               | no: ACP leaves it out | kept
 *   cancelled, heeded, and kept by the owner     | yes                   | kept
 *   cancelled, heeded, the process replaced      | not counted           | lost
 *   the process ended; a stop of ours            | not counted           | lost
 *   anything else                                | not counted           | dropped
 *
 * `lost` is gone with its process and may be gone on with in another; `dropped` never.
 */
import type { PromptOutcome } from '../../acp/index.ts';

export type SessionEnd = 'kept' | 'lost' | 'dropped';

export interface TurnMark {
  /** The session goes on in its process. */
  readonly isKept: boolean;
  /** Nobody wants it any more, however the turn ended. */
  readonly isLast: boolean;
  /** The supervisor stops. */
  readonly isStopping: boolean;
}

export function sessionEnd(outcome: PromptOutcome, { isKept, isLast, isStopping }: TurnMark): SessionEnd {
  if (isLast) return 'dropped';
  if (isKept) return 'kept';
  const isLost = outcome.status === 'process_ended' || (outcome.status === 'cancelled' && (outcome.processAlive || isStopping));
  return isLost ? 'lost' : 'dropped';
}

/** `sent`: the prompt has left us. */
export function hasRead(outcome: PromptOutcome, sent: boolean): boolean {
  if (!sent) return false;
  return outcome.status === 'ended' ? outcome.stopReason !== 'refusal' : outcome.status === 'cancelled' && outcome.processAlive;
}
