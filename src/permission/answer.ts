/**
 * How a permission request can end: the answer, its reason word, what becomes of the card, and the frames that say so.
 * NIP-AO "Authorization Envelope" (the reason words), "RESOLVED edit".
 */
import type { PermissionAnswer } from '../acp/permission-ports.ts';
import type { CardResolution } from '../cards/index.ts';
import { later } from '../model/index.ts';
import type { Milliseconds } from '../model/index.ts';
import type { Admission } from './admission.ts';
import { bindingOf, soonest } from './entry.ts';
import type { Ask, Binding, Entry, PermissionCommand, Waiting, Writing } from './entry.ts';
import { CANCELLED } from './policy.ts';

/** For the pipe to take an answer; Buzz's bound. An agent that does not read is replaced. */
const WRITE_MS = 30_000;

export interface Answer {
  readonly entry: Writing;
  readonly answer: PermissionAnswer;
}

export function atOnce(binding: Binding, admitted: Extract<Admission, { how: 'answer' }>, now: Milliseconds): Answer {
  return { entry: { status: 'writing', binding, reason: admitted.reason, writeBy: later(now, WRITE_MS) }, answer: admitted.answer };
}

/** The owner's choice, which is `applied` also when it is the no. Bounded by the turn's end as well. */
export function applied(ask: Ask, optionId: string, now: Milliseconds): Answer {
  const writeBy = soonest(later(now, WRITE_MS), ask.hardDeadline);
  const edit = { ask, resolution: { outcome: 'applied', chosenOptionId: optionId } } as const;
  return { entry: { status: 'writing', binding: ask.binding, reason: 'applied', writeBy, edit }, answer: { outcome: 'selected', optionId } };
}

/** NIP-AO, reason "timed_out": "request failed closed (denial)". Pending-map entries know no `rejected`. */
export function timedOut({ ask }: Waiting, mayBeVisible: boolean, now: Milliseconds): Answer {
  return { entry: noAnswer(ask, 'timed_out', mayBeVisible, now), answer: ask.denial };
}

export function cancelledAnswer({ ask }: Waiting, now: Milliseconds): Answer {
  return { entry: noAnswer(ask, 'cancelled', true, now), answer: CANCELLED };
}

function noAnswer(ask: Ask, reason: 'timed_out' | 'cancelled', mayBeVisible: boolean, now: Milliseconds): Writing {
  const entry: Writing = { status: 'writing', binding: ask.binding, reason, writeBy: later(now, WRITE_MS) };
  return mayBeVisible ? { ...entry, edit: { ask, resolution: { outcome: reason, chosenOptionId: null } } } : entry;
}

/** The end of a request whose answer is not known to have arrived: one terminal, and no card left open. */
export function lost(entry: Entry): readonly PermissionCommand[] {
  const ask = entry.status === 'writing' ? entry.edit?.ask : entry.ask;
  const resolution: CardResolution = { outcome: 'cancelled', chosenOptionId: null };
  return [terminal(bindingOf(entry)), ...(ask === undefined ? [] : [{ type: 'resolve_card', ask, resolution } as const])];
}

export function terminal(binding: Binding): PermissionCommand {
  return { type: 'emit_terminal', binding, authorization: { requestNonce: binding.nonce, actionable: false, reason: 'uncertain' } };
}

export function challenge(binding: Binding, reason: string): PermissionCommand {
  return { type: 'emit_challenge', binding, authorization: { requestNonce: binding.nonce, actionable: false, reason } };
}

export function write({ entry: { binding, writeBy }, answer }: Answer): PermissionCommand {
  return { type: 'write_answer', binding, answer, writeBy };
}
