/**
 * What an owner is told of a turn that failed (NIP-AO `turn_error`), and what the log says of it. Pure; undefined for a turn
 * that did not fail.
 */
import { describeEnd } from '../acp/index.ts';
import type { PromptOutcome, SessionRefused } from '../acp/index.ts';
import { unreachable } from '../model/index.ts';
import type { TurnFailure } from '../observer/index.ts';

export function failureOf(outcome: PromptOutcome): TurnFailure | undefined {
  switch (outcome.status) {
    case 'ended':
      return undefined;
    case 'cancelled':
      return outcome.processAlive ? undefined : { outcome: 'cancel_drain_timeout', error: 'the turn was cancelled, and its process ended' };
    case 'error':
      return { outcome: 'error', error: outcome.message, code: outcome.code };
    case 'idle_timeout':
      return { outcome: 'idle_timeout', error: `no sign of life for ${outcome.afterMs} ms` };
    case 'hard_timeout':
      return { outcome: 'hard_timeout', error: `not finished after ${outcome.afterMs} ms` };
    case 'permission_poisoned':
      return { outcome: 'error', error: 'it is not known what the agent has read of a permission answer' };
    case 'process_ended':
      return { outcome: 'exited', error: describeEnd(outcome.end) };
    default:
      return unreachable(outcome);
  }
}

/** There was no session to prompt. */
export function refusalOf(refused: SessionRefused): TurnFailure {
  switch (refused.code) {
    case 'error':
      return { outcome: 'error', error: `no session: ${refused.detail}`, code: refused.rpcCode };
    case 'id_taken':
    case 'timeout':
      return { outcome: 'error', error: `no session: ${refused.detail}` };
    case 'process_ended':
      return { outcome: 'exited', error: refused.detail };
    default:
      return unreachable(refused);
  }
}

/** Why, for the log, where the outcome's name does not say it. Never what the agent said as its answer. */
export function reasonOf(end: PromptOutcome | SessionRefused): { readonly reason?: string } {
  if (!('status' in end)) return { reason: end.code === 'error' ? `error ${end.rpcCode}: ${end.detail}` : end.detail };
  return end.status === 'error' && end.inAnswer !== true ? { reason: `error ${end.code}: ${end.message}` } : {};
}
