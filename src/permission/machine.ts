/**
 * Permission requests of one agent process: who may say yes, when the answer is no, what is written once. Pure.
 *
 *   entry \ input | requested        | card_ok         | card_refused | card_unanswered | decided        | expired
 *   (none)        | publishing, or   | -               | -            | -               | told: not live | -
 *                 | writing at once  |                 |              |                 |                |
 *   publishing    | 2nd ask: writing | pending; early: | writing no,  | writing no,     | kept, the      | writing no,
 *                 | no               | writing applied | no edit      | timed_out       | first one      | timed_out
 *   pending       | another entry    | -               | -            | -               | writing applied| writing no, timed_out
 *   writing       | another entry    | -               | no edit then | -               | told: not live | overdue: as write_failed
 *   (closed)      | gone, terminal   | -               | -            | -               | told: not live | -
 *
 *   entry \ input | cancelled (its turn)             | written                 | write_failed    | process_ended  | drained
 *   publishing    | writing cancelled                | -                       | (poison) gone,  | gone, terminal | writing
 *   pending       | writing cancelled                | -                       |   terminal      |   and edit     |   cancelled
 *   writing       | gone, terminal, poison, closed;  | gone, acp_write, edit   | gone, terminal, | gone, terminal | -
 *                 | its own cancelled answer: -      |                         | poison, closed  |   and edit     |
 *
 * `-` changes nothing. Closed is for good: another process has another state. NIP-AO "Permission Sentinel Cards".
 */
import { later, unreachable } from '../model/index.ts';
import type { Milliseconds, Pubkey } from '../model/index.ts';
import { admit } from './admission.ts';
import { applied, atOnce, cancelledAnswer, challenge, lost, terminal, timedOut, write } from './answer.ts';
import type { Answer } from './answer.ts';
import { findLive, isOffered, isOwners, sameText } from './decision.ts';
import { bindingOf, dueAt, soonest } from './entry.ts';
import type { Binding, Decided, Entry, PermissionCommand, PermissionInput, Requested, Waiting, Writing } from './entry.ts';

export interface PermissionState {
  readonly agent: Pubkey;
  /** Absent where nobody owns the agent: then nobody is asked. */
  readonly owner?: Pubkey;
  readonly status: 'open' | 'draining' | 'closed';
  readonly entries: readonly Entry[];
}

export interface PermissionStep {
  readonly state: PermissionState;
  readonly commands: readonly PermissionCommand[];
}

/** For the relay's OK, at most to the deadline (NIP-AO "PENDING card": min(10 s, expiresAt)). */
const PUBLISH_MS = 10_000;

/** A process that has asked nothing yet. */
export function openPermissions(parties: { readonly agent: Pubkey; readonly owner?: Pubkey }): PermissionState {
  return { ...parties, status: 'open', entries: [] };
}

/** One input at a time; commands are performed in order, before the next one. Throws (a bug) for a nonce that is live. */
export function stepPermission(state: PermissionState, input: PermissionInput, now: Milliseconds): PermissionStep {
  const next = react(state, input, now);
  return { state: next.state, commands: [...next.commands, ...idleCommands(state, next.state)] };
}

/** When the machine wants to hear `expired`; undefined when nothing waits for time. */
export function permissionDeadline({ entries }: PermissionState): Milliseconds | undefined {
  return entries.map(dueAt).reduce<Milliseconds | undefined>((least, at) => (least === undefined ? at : soonest(least, at)), undefined);
}

function react(state: PermissionState, input: PermissionInput, now: Milliseconds): PermissionStep {
  switch (input.type) {
    case 'requested':
      return request(state, input, now);
    case 'card_ok':
      return afterTime(state, now, (rest) => cardIsThere(rest, input.nonce, now));
    case 'card_refused':
    case 'card_unanswered':
      return noCard(state, input.nonce, input.type === 'card_unanswered', now);
    case 'decided':
      return afterTime(state, now, (rest) => decide(rest, input, now));
    case 'expired':
      return expire(state, now);
    case 'cancelled':
      return cancel(state, input.turnId, now);
    case 'written':
      return written(state, input.nonce);
    case 'write_failed':
      return poison(state, (entry) => entry.binding.nonce === input.nonce);
    case 'process_ended':
      return { state: { ...state, status: 'closed', entries: [] }, commands: state.entries.flatMap(lost) };
    case 'drained':
      // Answers on their way are not called back: they are confirmed or overdue soon.
      if (state.status === 'closed') return stay(state);
      return answerWaiting({ ...state, status: 'draining' }, () => true, (entry) => cancelledAnswer(entry, now));
    default:
      return unreachable(input);
  }
}

function request(state: PermissionState, input: Requested, now: Milliseconds): PermissionStep {
  const { nonce, turn } = input;
  const binding: Binding = {
    nonce, agent: state.agent, id: input.request.id, sessionId: input.request.sessionId,
    ...(turn === undefined ? {} : { turnId: turn.turnId }), ...(turn?.channelId === undefined ? {} : { channelId: turn.channelId }),
  };
  // NIP-AO "Nonce binding": never reused.
  if (state.entries.some((entry) => sameText(bindingOf(entry).nonce, nonce))) throw new TypeError('nonce: expected one that is not live');
  if (state.status === 'closed') return { state, commands: [challenge(binding, 'the process is being replaced'), terminal(binding)] };
  const draining = state.status === 'draining';
  const around = { binding, entries: state.entries, draining, ...(state.owner === undefined ? {} : { owner: state.owner }) };
  const admission = admit(input, around, now);
  switch (admission.how) {
    case 'answer': {
      const next = atOnce(binding, admission, now);
      return { state: withEntry(state, next.entry), commands: [challenge(binding, admission.challenge), write(next)] };
    }
    case 'ask': {
      const { ask } = admission;
      const publishBy = soonest(later(now, PUBLISH_MS), ask.deadline);
      return {
        state: withEntry(state, { status: 'publishing', ask, publishBy }),
        commands: [
          { type: 'emit_challenge', binding, authorization: { requestNonce: nonce, actionable: true, expiresAt: ask.card.expiresAt } },
          { type: 'publish_card', ask, publishBy },
        ],
      };
    }
    default:
      return unreachable(admission);
  }
}

/** NIP-AO: "only on relay OK accepted=true does the entry transition to Pending"; a buffered decision is applied then. */
function cardIsThere(state: PermissionState, nonce: string, now: Milliseconds): PermissionStep {
  const entry = publishing(state, nonce);
  if (entry === undefined) return stay(state);
  const { ask, early } = entry;
  if (early !== undefined) return answerWaiting(state, (one) => one === entry, () => applied(ask, early, now));
  return stay({ ...state, entries: state.entries.map((one) => (one === entry ? { status: 'pending', ask } : one)) });
}

/** NIP-AO: "the request is denied immediately with no card shown (fail closed)"; edited where it may be visible. */
function noCard(state: PermissionState, nonce: string, mayBeVisible: boolean, now: Milliseconds): PermissionStep {
  const entry = publishing(state, nonce);
  if (entry === undefined) return mayBeVisible ? stay(state) : noEdit(state, nonce);
  return answerWaiting(state, (one) => one === entry, () => timedOut(entry, mayBeVisible, now));
}

/** The request was answered meanwhile; the card that nobody sees needs no edit. */
function noEdit(state: PermissionState, nonce: string): PermissionStep {
  const entries = state.entries.map((entry): Entry => {
    if (entry.status !== 'writing' || entry.binding.nonce !== nonce) return entry;
    const { status, binding, reason, writeBy } = entry;
    return { status, binding, reason, writeBy };
  });
  return stay({ ...state, entries });
}

function decide(state: PermissionState, input: Decided, now: Milliseconds): PermissionStep {
  // Strangers and replays of old frames learn nothing (NIP-AO "Authorization").
  if (!isOwners(input, state)) return stay(state);
  const entry = findLive(state.entries, input);
  const result: PermissionCommand = {
    type: 'control_result', channelId: input.channelId, nonce: input.nonce, optionId: input.optionId, status: entry === undefined ? 'no_active_turn' : 'sent',
  };
  // NIP-AO "permission_decision" 2: ignored when it is not one of the card's own two options (D5).
  if (entry === undefined || !isOffered(entry.ask, input.optionId)) return { state, commands: [result] };
  if (entry.status === 'publishing') {
    const kept: Waiting = { ...entry, early: entry.early ?? input.optionId };
    return { state: { ...state, entries: state.entries.map((one) => (one === entry ? kept : one)) }, commands: [result] };
  }
  // NIP-AO "permission_decision" 3: to writing before the write.
  const step = answerWaiting(state, (one) => one === entry, () => applied(entry.ask, input.optionId, now));
  return { state: step.state, commands: [result, ...step.commands] };
}

/** Whatever is overdue: first the answers that the agent has not taken, since after that nothing is written any more. */
function expire(state: PermissionState, now: Milliseconds): PermissionStep {
  if (state.entries.some((entry) => entry.status === 'writing' && entry.writeBy <= now)) return poison(state, (entry) => entry.writeBy <= now);
  return answerWaiting(state, (entry) => dueAt(entry) <= now, (entry) => timedOut(entry, true, now));
}

/** A decision or an OK that comes too late does not overtake the timer that has not rung yet. */
function afterTime(state: PermissionState, now: Milliseconds, then: (state: PermissionState) => PermissionStep): PermissionStep {
  const overdue = answerWaiting(state, (entry) => dueAt(entry) <= now, (entry) => timedOut(entry, true, now));
  const next = then(overdue.state);
  return { state: next.state, commands: [...overdue.commands, ...next.commands] };
}

/**
 * NIP-AO "Cancel during write (poison)": an answer of the turn that is on its way leaves the agent in a state that nobody
 * knows. What else waits in the process is drained with `cancelled` before it is ended. An answer that says `cancelled`
 * already is this cancel's own work, or an earlier one's.
 */
function cancel(state: PermissionState, turnId: string, now: Milliseconds): PermissionStep {
  const isTorn = (entry: Entry): entry is Writing => entry.status === 'writing' && entry.binding.turnId === turnId && entry.reason !== 'cancelled';
  if (!state.entries.some(isTorn)) {
    return answerWaiting(state, (entry) => entry.ask.binding.turnId === turnId, (entry) => cancelledAnswer(entry, now));
  }
  const drained = answerWaiting(state, () => true, (entry) => cancelledAnswer(entry, now));
  const poisoned = poison(drained.state, isTorn);
  return { state: poisoned.state, commands: [...drained.commands, ...poisoned.commands] };
}

/** NIP-AO "One-write / one-observe contract": the frame follows the confirmed write. */
function written(state: PermissionState, nonce: string): PermissionStep {
  const entry = state.entries.find((one): one is Writing => one.status === 'writing' && one.binding.nonce === nonce);
  if (entry === undefined) return stay(state);
  const { binding, reason, edit } = entry;
  return {
    state: without(state, [entry]),
    commands: [
      { type: 'emit_answer', binding, authorization: { requestNonce: nonce, actionable: false, reason } },
      ...(edit === undefined ? [] : [{ type: 'resolve_card', ...edit } as const]),
    ],
  };
}

/** The process is lost: these writes have no known end, and what waits will not be answered. Other writes may still end. */
function poison(state: PermissionState, failed: (entry: Writing) => boolean): PermissionStep {
  if (!state.entries.some((entry) => entry.status === 'writing' && failed(entry))) return stay(state);
  const gone = state.entries.filter((entry) => entry.status !== 'writing' || failed(entry));
  return {
    state: { ...without(state, gone), status: 'closed' },
    commands: [...gone.flatMap(lost), ...(state.status === 'closed' ? [] : [{ type: 'poison' } as const])],
  };
}

/** Turns each waiting entry of a kind into the answer that it gets. */
function answerWaiting(
  state: PermissionState,
  which: (entry: Waiting) => boolean,
  answer: (entry: Waiting) => Answer,
): PermissionStep {
  const commands: PermissionCommand[] = [];
  const entries = state.entries.map((one): Entry => {
    if (one.status === 'writing' || !which(one)) return one;
    const next = answer(one);
    commands.push(write(next));
    return next.entry;
  });
  return { state: { ...state, entries }, commands };
}

/** A turn that waits for its owner is not idle: its timer stands still exactly while a request of it waits. */
function idleCommands(before: PermissionState, after: PermissionState): readonly PermissionCommand[] {
  const [were, are] = [waitingSessions(before), waitingSessions(after)];
  return [
    ...[...are].filter((sessionId) => !were.has(sessionId)).map((sessionId) => ({ type: 'suspend_idle', sessionId }) as const),
    ...[...were].filter((sessionId) => !are.has(sessionId)).map((sessionId) => ({ type: 'resume_idle', sessionId }) as const),
  ];
}

function waitingSessions({ entries }: PermissionState): ReadonlySet<string> {
  return new Set(entries.flatMap((entry) => (entry.status === 'writing' ? [] : [entry.ask.binding.sessionId])));
}

function publishing({ entries }: PermissionState, nonce: string): Extract<Waiting, { status: 'publishing' }> | undefined {
  return entries.find((one): one is Extract<Waiting, { status: 'publishing' }> => one.status === 'publishing' && one.ask.binding.nonce === nonce);
}

function withEntry(state: PermissionState, entry: Entry): PermissionState {
  return { ...state, entries: [...state.entries, entry] };
}

function without(state: PermissionState, gone: readonly Entry[]): PermissionState {
  return { ...state, entries: state.entries.filter((entry) => !gone.includes(entry)) };
}

function stay(state: PermissionState): PermissionStep {
  return { state, commands: [] };
}
