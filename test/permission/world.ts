/**
 * A small world around the permission reducer: an agent that asks, a relay that takes cards or does not, an owner and
 * strangers who decide, a pipe that takes answers or breaks, a process that dies. It keeps its own book of every request
 * from what was commanded, judges decisions by itself, and checks every rule as it happens.
 */
import { later, milliseconds, seconds } from '../../src/model/index.ts';
import type { Milliseconds } from '../../src/model/index.ts';
import { dueAt } from '../../src/permission/entry.ts';
import type { Decided, PermissionInput, Requested } from '../../src/permission/entry.ts';
import { openPermissions, permissionDeadline } from '../../src/permission/machine.ts';
import type { PermissionState, stepPermission } from '../../src/permission/machine.ts';
import { agent, deciding, otherChannel, owner, STAMP, START, stranger } from './asks.ts';
import { newCase, perform } from './book.ts';
import type { Book, Case } from './book.ts';

export type Step = typeof stepPermission;

/** The requests that may come, in any order. */
export type Cast = readonly Requested[];

const NOBODY = 'of nobody';

interface World {
  readonly state: PermissionState;
  readonly book: Book;
}

export interface Walked {
  readonly states: number;
  readonly transitions: number;
  readonly wrong?: string;
}

/** Every world that can be reached, by breadth; stops at the first wrong one. */
export function walk(step: Step, cast: Cast): Walked {
  const first = begin();
  const seen = new Set([nameOf(first)]);
  let transitions = 0;
  let edge: readonly World[] = [first];
  while (edge.length > 0) {
    const beyond: World[] = [];
    for (const world of edge) {
      for (const next of moves(world, step, cast)) {
        transitions += 1;
        // Asked before the name: a wrong way may lead to a world that is known.
        const wrong = next.book.wrong ?? standing(next);
        if (wrong !== undefined) return { states: seen.size, transitions, wrong };
        if (isUnmoved(world, next)) continue;
        const name = nameOf(next);
        if (seen.has(name)) continue;
        seen.add(name);
        const end = unended(next, step, true) ?? (isWriting(next) ? unended(next, step, false) : undefined);
        if (end !== undefined) return { states: seen.size, transitions, wrong: end };
        beyond.push(next);
      }
    }
    edge = beyond;
  }
  return { states: seen.size, transitions };
}

function begin(): World {
  const book: Book = {
    now: START, cases: new Map(), still: new Set(), cancelled: new Set(), poisoned: false, dead: false, draining: false, wrong: undefined,
  };
  return { state: openPermissions({ agent, owner }), book };
}

function moves(world: World, step: Step, cast: Cast): readonly World[] {
  const { book, state } = world;
  const next: World[] = [];
  for (const requested of cast) {
    const { nonce, turn } = requested;
    if (!book.dead && !book.cases.has(nonce)) next.push(asked(world, step, requested));
    next.push(...decisions(nonce).map((decided) => give(world, step, decided)));
    if (turn !== undefined) next.push(give(world, step, { type: 'cancelled', turnId: turn.turnId }));
  }
  for (const [nonce, one] of book.cases) {
    next.push(...ofTheRelay(nonce, one).map((input) => give(world, step, input)));
    if (one.wrote !== undefined && one.write === 'out' && !book.dead) {
      next.push(give(world, step, { type: 'written', nonce }), give(world, step, { type: 'write_failed', nonce }));
    }
  }
  const due = permissionDeadline(state);
  // Time comes to the deadline, and the timer rings then or after something else has come in.
  if (due !== undefined && due > book.now) next.push({ ...world, book: { ...book, now: due } });
  next.push(give(world, step, { type: 'expired' }), give(world, step, { type: 'cancelled', turnId: NOBODY }));
  if (!book.dead) next.push(give(world, step, { type: 'process_ended' }));
  if (!book.draining) next.push(give(world, step, { type: 'drained' }));
  return next;
}

/** Right ones, and every way to be wrong. All may come at any time, again and again: before the request, after its end. */
function decisions(nonce: string): readonly Decided[] {
  return [
    deciding({ nonce }), deciding({ nonce, optionId: 'no' }), deciding({ nonce, optionId: 'always' }), deciding({ nonce, sender: stranger }),
    deciding({ nonce, sender: agent }), deciding({ nonce, createdAt: seconds(STAMP - 301) }), deciding({ nonce, channelId: otherChannel }),
    deciding({ nonce, agent: stranger }), deciding({ nonce: `${nonce}x` }),
  ];
}

/** A relay says OK, no, or nothing; OK may come late or twice. A no is its last word. */
function ofTheRelay(nonce: string, one: Case): readonly PermissionInput[] {
  if (hasEnded(one)) return [{ type: 'card_ok', nonce }, { type: 'card_refused', nonce }];
  switch (one.card) {
    case 'sent':
      return [{ type: 'card_ok', nonce }, { type: 'card_refused', nonce }, { type: 'card_unanswered', nonce }];
    case 'unknown':
    case 'visible':
      return [{ type: 'card_ok', nonce }];
    case 'none':
    case 'refused':
      return [];
    default:
      throw new TypeError('unreachable');
  }
}

function asked(world: World, step: Step, requested: Requested): World {
  const { book } = world;
  const { turn } = requested;
  // The supervisor knows which turn it has cancelled, and says so.
  const told = turn !== undefined && book.cancelled.has(turn.turnId) ? { ...requested, turn: { ...turn, cancelling: true } } : requested;
  const cases = new Map([...book.cases, [requested.nonce, newCase(told, book)]]);
  return give({ ...world, book: { ...book, cases } }, step, told);
}

/** One step, with its commands performed in order, each checked. */
function give(world: World, step: Step, input: PermissionInput): World {
  const before = heard(world.book, input);
  const { state, commands } = step(world.state, input, before.now);
  const after = commands.reduce((book, command) => perform(book, command, input), before);
  return { state, book: blame(after, owedWrong(after, input)) };
}

/** What the input itself makes true, before the machine has said anything. */
function heard(book: Book, input: PermissionInput): Book {
  const put = (nonce: string, change: Partial<Case>): Book => {
    const one = book.cases.get(nonce);
    return one === undefined || hasEnded(one) ? book : { ...book, cases: new Map([...book.cases, [nonce, { ...one, ...change }]]) };
  };
  switch (input.type) {
    case 'requested':
    case 'expired':
      return book;
    case 'card_ok': {
      const one = book.cases.get(input.nonce);
      return put(input.nonce, { card: 'visible', ...(one?.card === 'sent' && book.now < one.publishBy ? { taken: true } : {}) });
    }
    case 'card_refused':
      return put(input.nonce, { card: 'refused' });
    case 'card_unanswered':
      return put(input.nonce, { card: 'unknown' });
    case 'decided': {
      const one = book.cases.get(input.nonce);
      const counts = one !== undefined && one.choice === undefined && isRight(book, one, input);
      return counts ? put(input.nonce, { choice: input.optionId }) : book;
    }
    case 'cancelled':
      // Of a turn that nothing is asked in any more nothing is to be remembered.
      return input.turnId === NOBODY ? book : { ...book, cancelled: new Set([...book.cancelled, input.turnId]) };
    case 'written':
      return put(input.nonce, { write: 'confirmed' });
    case 'write_failed':
      return put(input.nonce, { write: 'failed' });
    case 'process_ended':
      return { ...book, dead: true };
    case 'drained':
      return { ...book, draining: true };
    default:
      throw new TypeError('unreachable');
  }
}

function isRight(book: Book, one: Case, { optionId, sender, agent: named, channelId, createdAt, receivedAt }: Decided): boolean {
  return isLive(book, one) && ['yes', 'no'].includes(optionId) && sender === owner && named === agent
    && channelId === one.request.turn?.channelId && Math.abs(createdAt - receivedAt) <= 300;
}

function hasEnded(one: Case): boolean {
  return one.answers + one.terminals > 0;
}

/** Asked, and not answered, and in time. */
function isLive(book: Book, one: Case): boolean {
  return one.asked && one.wrote === undefined && one.terminals === 0 && book.now < (one.taken ? one.deadline : one.publishBy);
}

/** What this input must have brought about. */
function owedWrong(book: Book, input: PermissionInput): string | undefined {
  const one = 'nonce' in input ? book.cases.get(input.nonce) : undefined;
  if (input.type === 'requested' && one?.challenges !== 1) return 'a request has no challenge';
  if ((input.type === 'decided' || input.type === 'card_ok') && one?.taken === true && one.choice !== undefined && one.wrote === undefined && one.terminals === 0) {
    return 'a right decision is not applied';
  }
  if (input.type === 'written' && one?.answers !== 1 && one?.terminals !== 1) return 'a confirmed write has no frame';
  if (input.type === 'cancelled' && [...book.cases.values()].some((any) => any.request.turn?.turnId === input.turnId && any.asked && any.wrote === undefined && any.terminals === 0)) {
    return 'a request outlives the cancel of its turn';
  }
  return undefined;
}

/** What must hold between two inputs. */
function standing({ state, book }: World): string | undefined {
  const cases = [...book.cases.values()];
  const waiting = cases.filter((one) => one.asked && one.wrote === undefined && one.terminals === 0);
  const sessions = new Set(waiting.map(({ request }) => request.request.sessionId));
  if ([...sessions].sort().join() !== [...book.still].sort().join()) return 'the idle timer does not stand still exactly while a request waits';
  const held = state.entries.filter(({ status }) => status !== 'writing').length;
  if (held !== waiting.length) return 'the machine waits for other requests than are open';
  if (cases.some((one) => one.terminals > 0) && !book.poisoned && !book.dead) return 'a terminal, and the process lives on';
  if (cases.some((one) => one.write === 'failed') && !book.poisoned && !book.dead) return 'a write failed, and the process lives on';
  if (book.dead && state.entries.length > 0) return 'an entry outlives its process';
  if ((book.poisoned || book.dead) && waiting.length > 0) return 'a request waits in a process that is lost';
  return undefined;
}

/** By identity: most moves change nothing, and to name a world is dear. */
function isUnmoved({ state, book }: World, next: World): boolean {
  return next.book === book && next.state.status === state.status && next.state.entries.length === state.entries.length
    && next.state.entries.every((entry, at) => entry === state.entries[at]);
}

function isWriting({ state }: World): boolean {
  return state.entries.some(({ status }) => status === 'writing');
}

/** Whether every request comes to its end from here: nobody decides, the pipe takes what is written or stands, time passes. */
function unended(world: World, step: Step, pipeTakes: boolean): string | undefined {
  let here = world;
  for (let round = 0; round < 12; round += 1) {
    for (const [nonce, one] of here.book.cases) {
      if (pipeTakes && one.wrote !== undefined && one.write === 'out' && !here.book.dead) here = give(here, step, { type: 'written', nonce });
    }
    const due = permissionDeadline(here.state);
    if (due === undefined) break;
    here = give({ ...here, book: { ...here.book, now: due > here.book.now ? due : here.book.now } }, step, { type: 'expired' });
    const still = permissionDeadline(here.state);
    if (still !== undefined && still <= here.book.now) return 'what is overdue is not ended';
  }
  if (here.book.wrong !== undefined) return here.book.wrong;
  for (const one of here.book.cases.values()) {
    if (one.challenges > 0 && one.answers + one.terminals !== 1) return 'a challenge is not answered by one acp_write or one terminal';
    if (one.card !== 'none' && one.card !== 'refused' && one.edits !== 1) return 'a card that may be visible is not resolved once';
  }
  return here.book.still.size === 0 ? undefined : 'an idle timer never goes on';
}

function blame(book: Book, wrong: string | undefined): Book {
  return wrong === undefined || book.wrong !== undefined ? book : { ...book, wrong };
}

/**
 * Equal worlds have equal names. Of times counts only which are past and in what order the others come; of a request
 * that has ended only that it has: whatever is commanded for it from then on is wrong.
 */
function nameOf({ state, book }: World): string {
  const live = [...book.cases.values()].filter((one) => !hasEnded(one));
  const times = [...state.entries.map(dueAt), ...live.flatMap((one) => (one.wrote === undefined ? [one.publishBy, one.deadline] : []))];
  const order = [...new Set(times.filter((at) => at > book.now))].sort((a, b) => a - b);
  const left = (at: Milliseconds): number => order.indexOf(at) + 1;
  const entries = state.entries.map((entry) => (
    entry.status === 'writing'
      ? [entry.binding.nonce, entry.reason, entry.edit?.resolution.outcome, left(entry.writeBy)]
      : [entry.ask.binding.nonce, entry.status, left(dueAt(entry)), entry.status === 'publishing' ? entry.early : '']
  ));
  const cases = [...book.cases].map(([nonce, one]) => {
    if (hasEnded(one)) return nonce;
    const { request, publishBy, deadline, ...rest } = one;
    return [nonce, request.turn?.cancelling, one.wrote === undefined ? [left(publishBy), left(deadline)] : '', rest];
  });
  return JSON.stringify([state.status, entries, cases.sort(), [...book.still], [...book.cancelled].sort(), book.poisoned, book.dead, book.draining]);
}

/** For faults that turn the clock. */
export function earlier(now: Milliseconds, byMs: number): Milliseconds {
  return milliseconds(later(now, -byMs));
}
