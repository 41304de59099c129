/**
 * Messages that come while a turn of their lane is under way: given to it (steered), or a reason to cut it short and to
 * begin one turn with both. Pure. Commit before act: a message is in the turn's rows before the agent may read it.
 *
 *   message \ input | steering        | injected | refused           | unanswered       | passed       | finished
 *   offered (waits) | → trying, saved | -        | its turn is cut   | as refused       | waits        | waits; joins the next
 *                   | as dispatched   |          | short             |                  |              |   turn where cut short
 *   trying          | -               | → taken  | → waits, and its  | → unknown, and   | → waits      | as `finished` says
 *                   |                 |          |   turn is cut     |   its turn is cut|              |
 *   taken, unknown  | -               | -        | -                 | -                | -            | as `finished` says
 *
 * One at a time is offered or tried. An offered one that a full queue drops (`machine.ts`) makes room for the next.
 * `unknown`: the agent may have read it, and so it is given to no other turn before this one has ended. What names another
 * turn than the one in flight, or another message than the one that is due, is late and changes nothing.
 *
 * A message belongs to a turn of its own place (thread, or whole direct-message channel), whose answer is then its answer.
 * A steer is part of the turn's instruction, and so is of the same author (compiler spec, "Queue dispatch is the authority
 * boundary"); who interrupts begins a turn of their own, in which the interrupted one is evidence.
 */
import { unreachable } from '../../model/index.ts';
import type { EventId } from '../../model/index.ts';
import type { Batch, Entry, MergeMode } from './entry.ts';
import { laneInTurn, laneOf, withLane } from './lanes.ts';
import type { Given, Lane } from './lanes.ts';
import { without } from './state.ts';
import type { InboxState } from './state.ts';
import type { InboxCommand, InboxInput, InboxStep, MidTurn, SteerAnswer } from './step.ts';

export type MidTurnPolicy = 'steer' | 'queue' | 'interrupt' | 'owner-interrupt';

/** Undefined: it waits for a turn of its own. */
export function midTurnOf(policy: MidTurnPolicy, message: { readonly isOwners: boolean; readonly isDirect: boolean }): MidTurn | undefined {
  const place = message.isDirect ? 'lane' : 'thread';
  switch (policy) {
    case 'queue':
      return undefined;
    case 'steer':
    case 'interrupt':
      return { how: policy, place };
    case 'owner-interrupt':
      return message.isOwners ? { how: 'interrupt', place } : undefined;
    default:
      return unreachable(policy);
  }
}

/** `entry` has been put into its queue. */
export function join(state: InboxState, entry: Entry, midTurn: MidTurn | undefined): InboxStep {
  const lane = laneOf(state, entry);
  const turn = lane?.inFlight;
  if (lane === undefined || turn === undefined || midTurn === undefined) return { state, commands: [] };
  if (lane.decided === true || !belongs(entry, turn, midTurn)) return { state, commands: [] };
  const { offers = [] } = lane;
  const joined: Lane = { ...lane, offers: [...offers, entry.eventId] };
  return midTurn.how === 'interrupt' ? cut(state, turn, joined, 'interrupt') : offerNext(state, turn, joined, offers[0]);
}

/**
 * `entry` waits no more. Where it was the one on offer, nobody answers for it any longer, and the next is offered, unless
 * all is decided of the turn.
 */
export function dropOffered(state: InboxState, entry: Entry): InboxStep {
  const offered = laneOf(state, entry)?.offers?.[0];
  const rest = without(state, entry);
  const lane = laneOf(rest, entry);
  if (lane?.inFlight === undefined || lane.decided === true || offered !== entry.eventId) return { state: rest, commands: [] };
  return offerNext(rest, lane.inFlight, lane);
}

/** With the `steer` command where it may be given; without, it was late. */
export function steering(state: InboxState, { turnId, eventId, published }: Extract<InboxInput, { type: 'steering' }>): InboxStep {
  const found = openLane(state, turnId);
  if (found === undefined) return { state, commands: [] };
  const { turn, lane } = found;
  const { offers = [], given = [], merging } = lane;
  const entry = lane.queue.find((one) => one.eventId === eventId);
  if (entry === undefined || offers[0] !== eventId || merging !== undefined || isTrying(lane)) return { state, commands: [] };
  const next: Lane = {
    ...lane, queue: lane.queue.filter((one) => one !== entry), offers: offers.slice(1), given: [...given, { entry, state: 'trying', published }],
  };
  return {
    state: withLane(state, turn, next),
    // Until the agent says that it has it, the first message of the turn is taken for the turn's own answer.
    commands: [saveGiven(turnId, eventId, Math.max(published, 1)), { type: 'steer', turnId, entry }],
  };
}

export function steered(state: InboxState, { turnId, eventId, answer }: Extract<InboxInput, { type: 'steered' }>): InboxStep {
  const found = openLane(state, turnId);
  if (found === undefined) return { state, commands: [] };
  const { lane, turn } = found;
  const { offers = [], given = [] } = lane;
  const tried = given.find((one) => one.entry.eventId === eventId && one.state === 'trying');
  if (tried !== undefined) return ofTried(state, turn, lane, { tried, answer });
  if (offers[0] !== eventId || answer === 'injected') return { state, commands: [] };
  if (answer !== 'passed') return cut(state, turn, lane, 'steer');
  return offerNext(state, turn, { ...lane, offers: offers.slice(1) });
}

function ofTried(state: InboxState, turn: Batch, lane: Lane, { tried, answer }: { readonly tried: Given; readonly answer: SteerAnswer }): InboxStep {
  const { turnId } = turn;
  const { entry, published } = tried;
  const { given = [] } = lane;
  const become = (next: Given['state']): Lane => ({ ...lane, given: [...given.filter((one) => one !== tried), { ...tried, state: next }] });
  const back: InboxCommand = { type: 'save', save: { change: 'queued', entry, outcome: 'not taken by the turn under way' } };
  switch (answer) {
    case 'injected':
      return before([saveGiven(turnId, entry.eventId, published)], offerNext(state, turn, become('taken')));
    case 'unanswered':
      return cut(state, turn, become('unknown'), 'steer');
    case 'refused':
      return before([back], cut(state, turn, takenBack(lane, tried, [entry.eventId]), 'steer'));
    case 'passed':
      return before([back], offerNext(state, turn, takenBack(lane, tried, [])));
    default:
      return unreachable(answer);
  }
}

/** It waits again, where it stood. */
function takenBack(lane: Lane, { entry }: Given, offers: readonly EventId[]): Lane {
  const place = lane.queue.findIndex((one) => one.receivedAtMs > entry.receivedAtMs);
  const { given = [], offers: others = [] } = lane;
  const queue = place === -1 ? [...lane.queue, entry] : lane.queue.toSpliced(place, 0, entry);
  return { ...lane, queue, given: given.filter((one) => one.entry !== entry), offers: [...offers, ...others] };
}

/** Twice is once, and the first reason stays. */
function cut(state: InboxState, turn: Batch, lane: Lane, mode: MergeMode): InboxStep {
  const commands: readonly InboxCommand[] = lane.merging === undefined ? [{ type: 'interrupt', turnId: turn.turnId }] : [];
  return { state: withLane(state, turn, { ...lane, merging: lane.merging ?? mode }), commands };
}

/** Offers the first that waits for it, unless it was offered already, or another is on its way, or the turn is cut short. */
function offerNext(state: InboxState, turn: Batch, lane: Lane, offered?: EventId): InboxStep {
  const { offers: [first] = [] } = lane;
  const entry = lane.queue.find(({ eventId }) => eventId === first);
  const isDue = entry !== undefined && first !== offered && lane.merging === undefined && !isTrying(lane);
  return { state: withLane(state, turn, lane), commands: isDue ? [{ type: 'offer', turnId: turn.turnId, entry }] : [] };
}

function belongs(entry: Entry, { entries: [first] }: Batch, { how, place }: MidTurn): boolean {
  if (place === 'thread' && entry.destination !== first.destination) return false;
  return how === 'interrupt' || entry.author === first.author;
}

/** The lane of a turn that may be given messages. */
function openLane(state: InboxState, turnId: string): { readonly lane: Lane; readonly turn: Batch } | undefined {
  const found = laneInTurn(state, turnId);
  return found?.lane.decided === true ? undefined : found;
}

function isTrying({ given = [] }: Lane): boolean {
  return given.some((one) => one.state === 'trying');
}

function saveGiven(turnId: string, eventId: EventId, above: number): InboxCommand {
  return { type: 'save', save: { change: 'given', eventId, turnId, above } };
}

function before(commands: readonly InboxCommand[], step: InboxStep): InboxStep {
  return { state: step.state, commands: [...commands, ...step.commands] };
}
