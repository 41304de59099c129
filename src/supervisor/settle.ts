/**
 * What the end of a prompt means for the turn's events, its session and its process. Pure; one answer for every outcome.
 *
 *   outcome          | answered already | not answered                     | session | counts against the process
 *   ended            | done             | done (answer or notice: reply.ts) | kept*   | no
 *   error            | done             | again, or dead when it is the login | dropped | no
 *   idle_timeout     | done             | again, interrupted               | dropped | if it had to be killed
 *   hard_timeout     | done             | dead: it would only happen again | dropped | if it had to be killed
 *   cancelled (stop) | done             | again, interrupted, not counted  | dropped | no
 *   process_ended    | done             | again, interrupted               | gone    | yes
 *   (*) max_tokens and max_turn_requests: the session is full and is dropped.
 *
 * "Answered already": the journal holds a message the agent published in this very turn. Asking again would answer twice.
 */
import type { PromptOutcome } from '../acp/index.ts';
import { unreachable } from '../model/index.ts';
import type { Ending } from './inbox/machine.ts';

export interface Settlement {
  readonly ending: Ending;
  readonly keepSession: boolean;
}

/** Errors that no retry mends: the operator has to log in again. */
const LOGIN = /re-?authenticate|authentication required|api error: 401|not logged in/i;
const AUTH_REQUIRED = -32_000;

export function settle(outcome: PromptOutcome, answered: boolean): Settlement {
  const done = (word: string, keepSession: boolean): Settlement => ({ ending: { how: 'done', outcome: word }, keepSession });
  switch (outcome.status) {
    case 'ended':
      return done(outcome.stopReason, outcome.stopReason !== 'max_tokens' && outcome.stopReason !== 'max_turn_requests');
    case 'error':
      return answered ? done('error after the answer', false) : { ending: afterError(outcome), keepSession: false };
    case 'idle_timeout':
      return answered ? done('idle after the answer', false) : again(`no sign of life for ${inSeconds(outcome.afterMs)}`, 'failure');
    case 'hard_timeout':
      return answered
        ? done('hard timeout after the answer', false)
        : { ending: { how: 'dead', reason: `not finished after ${inSeconds(outcome.afterMs)}`, tell: true }, keepSession: false };
    case 'cancelled':
      return answered ? done('cancelled after the answer', false) : again('cut short by a stop', 'stop');
    case 'process_ended':
      return answered ? done('process ended after the answer', false) : again('the agent process ended', 'failure');
    default:
      return unreachable(outcome);
  }
}

function again(reason: string, cause: 'failure' | 'stop'): Settlement {
  return { ending: { how: 'again', reason, interrupted: true, cause }, keepSession: false };
}

function afterError({ code, message }: Extract<PromptOutcome, { status: 'error' }>): Ending {
  if (code === AUTH_REQUIRED || LOGIN.test(message)) return { how: 'dead', reason: 'the agent program is not logged in', tell: true };
  return { how: 'again', reason: `the agent answered with error ${code}`, interrupted: false, cause: 'failure' };
}

function inSeconds(durationMs: number): string {
  return `${Math.round(durationMs / 1000)} s`;
}
