/**
 * What the end of a turn means for its events, its session and its process. Pure; one answer for every way of ending.
 *
 *   outcome           | answered already | not answered                            | session  | process
 *   ended             | done             | done (answer.ts says what is left)      | kept (*) | kept
 *   error             | done             | again; late where the provider limits;  | dropped  | kept
 *                     |                  | dead when it is the login               |          |
 *   idle_timeout      | done             | again, interrupted                      | dropped  | replaced
 *   hard_timeout      | done             | dead: it would only happen again        | dropped  | replaced
 *   cancelled by us   | done             | again, interrupted, not counted         | dropped  | replaced
 *   cancelled for a   | done, unfinished | again, interrupted, not counted         | kept     | kept; replaced when
 *   message           |                  |                                         |          | it did not heed it
 *   cancelled by the  | done             | done: nobody is given it again, and      | kept     | kept; replaced when
 *   owner             |                  | nothing is said                         |          | it did not heed it
 *   poisoned          | done             | again, interrupted; not counted when it | dropped  | replaced; as a crash
 *                     |                  | was our cancel                          |          | when it left it unread
 *   process_ended     | done             | again, interrupted                      | gone     | gone
 *   session refused   | -                | as an error                             | none     | kept
 *   session id taken  | -                | again                                   | none     | replaced
 *   session timeout   | -                | again                                   | none     | replaced, as a crash
 *   not begun         | -                | again, not counted                      | as it is | kept
 *   (*) but for max_tokens and max_turn_requests: that session is full.
 *
 * "Answered already": the journal holds a message the agent published in this very turn. Asking again would answer twice.
 * Cut short for a message, it may have published "I am at it" and no more, or all of its answer, which nobody can tell:
 * `unfinished` lets that message's turn show it (`settleMerged`).
 * A process that is replaced loses its credential first; it counts as a crash when it had to be killed.
 */
import type { ModelTrouble, PromptOutcome, SessionRefused } from '../acp/index.ts';
import { unreachable } from '../model/index.ts';
import type { Ending } from './inbox/machine.ts';

export interface Settlement {
  readonly ending: Ending;
  readonly keepSession: boolean;
}

/** What becomes of the process, known before anything else is asked. `crashed` counts against the breaker. */
export type ProcessFate = 'kept' | 'gone' | 'retired' | 'crashed';

export type ProviderWord = { readonly is: 'well' } | Extract<ModelTrouble, { readonly is: 'limit' }>;

const CUT_SHORT = 'cut short by a stop';
const MADE_ROOM = 'cut short for a message that came meanwhile';
const LIMITED = 'the provider of its model takes no more requests for now';

export function processFate(outcome: PromptOutcome): ProcessFate {
  switch (outcome.status) {
    case 'ended':
    case 'error':
      return 'kept';
    case 'process_ended':
      return 'gone';
    case 'cancelled':
      // Whatever it took, it was we who ended it.
      return 'retired';
    case 'idle_timeout':
    case 'hard_timeout':
      return outcome.processAlive ? 'retired' : 'crashed';
    case 'permission_poisoned':
      // Nobody is to blame for a cancel that met an answer on its way.
      return outcome.cause === 'cancelled' ? 'retired' : 'crashed';
    default:
      return unreachable(outcome);
  }
}

/**
 * Its owner wants the turn no more. An agent that has stopped keeps its process and what it remembers: the next message
 * is about this one.
 */
export function settleDropped(outcome: PromptOutcome): { readonly fate: ProcessFate; readonly keepSession: boolean } {
  if (outcome.status === 'cancelled' && outcome.processAlive) return { fate: 'kept', keepSession: true };
  return { fate: processFate(outcome), keepSession: outcome.status === 'ended' && settle(outcome, true).keepSession };
}

/** `login`: where the agent program takes its login from, for people. */
export function settle(outcome: PromptOutcome, answered: boolean, login?: string): Settlement {
  const done = (word: string, keepSession: boolean): Settlement => ({ ending: { how: 'done', outcome: word }, keepSession });
  switch (outcome.status) {
    case 'ended':
      return done(outcome.stopReason, outcome.stopReason !== 'max_tokens' && outcome.stopReason !== 'max_turn_requests');
    case 'error':
      return answered
        ? done('error after the answer', false)
        : { ending: afterError({ reason: `the agent answered with error ${outcome.code}`, trouble: outcome.trouble, login }), keepSession: false };
    case 'idle_timeout':
      return answered ? done('idle after the answer', false) : again(`no sign of life for ${inSeconds(outcome.afterMs)}`, 'failure');
    case 'hard_timeout':
      return answered
        ? done('hard timeout after the answer', false)
        : { ending: { how: 'dead', reason: `not finished after ${inSeconds(outcome.afterMs)}` }, keepSession: false };
    case 'cancelled':
      return answered ? done('cancelled after the answer', false) : again(CUT_SHORT, 'stop');
    case 'permission_poisoned':
      return answered
        ? done('poisoned after the answer', false)
        : again('it is not known what the agent has read of a permission answer', outcome.cause === 'cancelled' ? 'stop' : 'failure');
    case 'process_ended':
      return answered ? done('process ended after the answer', false) : again('the agent process ended', 'failure');
    default:
      return unreachable(outcome);
  }
}

/**
 * It was cut short for messages that came meanwhile, whose turn shows it as what was interrupted: to be carried on under
 * `steer`, dropped under `interrupt`. Where it had published it is nobody's instruction again, and no more is held here: the
 * envelope does not say that it had, and that the model does not answer it a second time is the model's doing.
 */
export function settleMerged(outcome: PromptOutcome, answered: boolean, login?: string): Settlement {
  const { ending, keepSession } = settle(outcome, answered, login);
  const isOurs = outcome.status === 'cancelled' || (outcome.status === 'permission_poisoned' && outcome.cause === 'cancelled');
  if (!isOurs || ending.how === 'dead') return { ending, keepSession };
  if (ending.how === 'again') return { ending: outcome.status === 'cancelled' ? { ...ending, reason: MADE_ROOM } : ending, keepSession };
  return { ending: { ...ending, outcome: `${MADE_ROOM}, after it had published`, unfinished: true }, keepSession };
}

/** What becomes of a process that opened no session. */
export function refusedFate({ code }: SessionRefused): ProcessFate {
  switch (code) {
    case 'error':
      return 'kept';
    case 'id_taken':
      // It keeps one conversation, and that is not this one; it has not failed.
      return 'retired';
    case 'timeout':
      // A program that does not answer this will not answer the next; another process gets the retry.
      return 'crashed';
    case 'process_ended':
      return 'gone';
    default:
      return unreachable(code);
  }
}

/** The turn could not begin: there is no session to prompt. */
export function settleRefused(refused: SessionRefused, login?: string): Ending {
  if (refused.code === 'error') return afterError({ reason: `no session: ${refused.detail}`, trouble: refused.trouble, login });
  return { how: 'again', reason: `no session: ${refused.detail}`, interrupted: false, cause: 'failure' };
}

/** What was said of its messages when it was cancelled holds. */
export const DROPPED: Ending = { how: 'done', outcome: 'cancelled by the owner' };

/** Cut short before the agent read a word of it. */
export const NOT_BEGUN: Ending = { how: 'again', reason: CUT_SHORT, interrupted: false, cause: 'stop' };
/** The same, for messages that came meanwhile. */
export const NOT_BEGUN_FOR_OTHERS: Ending = { ...NOT_BEGUN, reason: MADE_ROOM };

function again(reason: string, cause: 'failure' | 'stop'): Settlement {
  return { ending: { how: 'again', reason, interrupted: true, cause }, keepSession: false };
}

interface Failed {
  readonly reason: string;
  readonly trouble: ModelTrouble | undefined;
  readonly login: string | undefined;
}

function afterError({ reason, trouble, login }: Failed): Ending {
  switch (trouble?.is) {
    case 'login':
      return { how: 'dead', reason: `the agent program is not logged in${login === undefined ? '' : `; its operator has to give it ${login}`}` };
    case 'limit': {
      const asked = trouble.retryAfterMs === undefined ? {} : { retryAfterMs: trouble.retryAfterMs };
      return { how: 'again', reason: LIMITED, interrupted: false, cause: 'limit', ...asked };
    }
    case undefined:
      return { how: 'again', reason, interrupted: false, cause: 'failure' };
    default:
      return unreachable(trouble);
  }
}

/** What the end of a turn says of the provider of its model; undefined where it says nothing of it. */
export function providerWord(end: PromptOutcome | SessionRefused): ProviderWord | undefined {
  if (!('status' in end)) return end.code === 'error' && end.trouble?.is === 'limit' ? end.trouble : undefined;
  if (end.status === 'ended') return { is: 'well' };
  return end.status === 'error' && end.trouble?.is === 'limit' ? end.trouble : undefined;
}

function inSeconds(durationMs: number): string {
  return `${Math.round(durationMs / 1000)} s`;
}
