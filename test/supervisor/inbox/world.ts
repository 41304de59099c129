/**
 * A small world around the inbox reducer: a table that replays its saves as SQLite would, turns that are out, and all
 * that can happen next, crashes included. Every rule it must keep is checked as it happens.
 */
import { later, milliseconds } from '../../../src/model/index.ts';
import type { ChannelId, EventId, Milliseconds } from '../../../src/model/index.ts';
import { MAX_ATTEMPTS } from '../../../src/supervisor/inbox/entry.ts';
import type { Batch, Entry } from '../../../src/supervisor/inbox/entry.ts';
import type { Ending, InboxCommand, InboxInput, InboxStep, Save } from '../../../src/supervisor/inbox/machine.ts';
import { everyLane, withLane } from '../../../src/supervisor/inbox/lanes.ts';
import type { Lane } from '../../../src/supervisor/inbox/lanes.ts';
import { nextReadyAt } from '../../../src/supervisor/inbox/ready.ts';
import { emptyInbox } from '../../../src/supervisor/inbox/state.ts';
import type { InboxState } from '../../../src/supervisor/inbox/state.ts';

export type Step = (state: InboxState, input: InboxInput, now: Milliseconds) => InboxStep;

interface Row {
  readonly entry: Entry;
  readonly status: 'queued' | 'dispatched' | 'done' | 'dead';
  readonly turnId?: string;
}

export interface World {
  readonly state: InboxState;
  readonly now: Milliseconds;
  /** By arrival. */
  readonly table: ReadonlyMap<EventId, Row>;
  /** Turns that were dispatched and have not ended. */
  readonly out: readonly Batch[];
  /** Events of a channel that the agent has left since they came. */
  readonly banned: ReadonlySet<EventId>;
  /** Events of turns that the owner wanted no more. */
  readonly dropped: ReadonlySet<EventId>;
  readonly turns: number;
  readonly fails: number;
  readonly leaves: number;
  readonly cancels: number;
  readonly crashes: number;
  readonly wrong: string | undefined;
}

/** What may happen in one history: enough for every pair of troubles to meet, and for no three beside the failures. */
const BOUNDS = { turns: 3, fails: 2, leaves: 1, cancels: 1, crashes: 1, troubles: 2 } as const;
const GATHER_MS = 200;
const ROUGHLY_MS = 50;
const DONE: Ending = { how: 'done', outcome: 'end_turn' };
const DEAD: Ending = { how: 'dead', reason: 'no' };
const FAILURE: Ending = { how: 'again', reason: 'it broke', interrupted: true, cause: 'failure' };
const STOP: Ending = { how: 'again', reason: 'stop', interrupted: false, cause: 'stop' };
const RESTART: Ending = { how: 'again', reason: 'restart', interrupted: true, cause: 'restart' };

export interface Cast {
  /** What the last run left waiting. */
  readonly left: readonly Entry[];
  /** What may come, in any order. */
  readonly coming: readonly Entry[];
}

export interface Walked {
  readonly states: number;
  readonly transitions: number;
  readonly wrong?: string;
}

/** Every world that can be reached, by breadth; stops at the first wrong one. */
export function walk(step: Step, cast: Cast): Walked {
  const seen = new Set<string>();
  let transitions = 0;
  let edge: readonly World[] = [begin(step, cast)];
  while (edge.length > 0) {
    const beyond: World[] = [];
    for (const world of edge) {
      for (const next of moves(world, step, cast)) {
        transitions += 1;
        // Asked before the name: a wrong way may lead to a world that is known.
        const wrong = next.wrong ?? standing(next);
        if (wrong !== undefined) return { states: seen.size, transitions, wrong };
        const name = nameOf(next);
        if (seen.has(name)) continue;
        seen.add(name);
        const end = stuck(next, step);
        if (end !== undefined) return { states: seen.size, transitions, wrong: end };
        beyond.push(next);
      }
    }
    edge = beyond;
  }
  return { states: seen.size, transitions };
}

function begin(step: Step, { left }: Cast): World {
  const table = new Map(left.map((entry): [EventId, Row] => [entry.eventId, { entry, status: 'queued' }]));
  const world: World = {
    state: emptyInbox({ gatherMs: GATHER_MS }), now: milliseconds(1_000), table, out: [], banned: new Set(), dropped: new Set(),
    turns: 0, fails: 0, leaves: 0, cancels: 0, crashes: 0, wrong: undefined,
  };
  return give(world, step, { type: 'restored', queued: left, stranded: [], answered: new Set() });
}

function moves(world: World, step: Step, { coming }: Cast): readonly World[] {
  const next: World[] = [];
  const known = [...world.table.values()];
  for (const entry of coming) {
    // A feed may deliver again; what has ended, the driver does not hand in.
    const status = world.table.get(entry.eventId)?.status;
    if (status === 'done' || status === 'dead') continue;
    const at = milliseconds(status === undefined ? world.now + 1 : world.now);
    next.push(give({ ...world, now: at }, step, { type: 'accepted', entry: { ...entry, receivedAtMs: at } }));
  }
  if (world.turns < BOUNDS.turns) next.push(taken(world, step));
  const readyAt = nextReadyAt(world.state);
  if (readyAt !== undefined && readyAt > world.now) next.push({ ...world, now: readyAt });
  for (const { turnId } of world.out) {
    for (const ending of [DONE, DEAD, STOP]) next.push(ended(world, step, turnId, ending));
    if (world.fails < BOUNDS.fails) next.push(ended({ ...world, fails: world.fails + 1 }, step, turnId, FAILURE));
  }
  next.push(give(world, step, { type: 'finished', turnId: 'of nobody', ending: DONE, jitter: 0.5 }));
  if (world.leaves + world.cancels + world.crashes >= BOUNDS.troubles) return next;
  if (world.leaves < BOUNDS.leaves) {
    for (const channelId of new Set(known.map(({ entry }) => entry.channelId))) next.push(leave(world, step, channelId));
  }
  if (world.cancels < BOUNDS.cancels) {
    for (const channelId of new Set(known.map(({ entry }) => entry.channelId))) next.push(cancel(world, step, channelId));
  }
  if (world.crashes < BOUNDS.crashes) next.push(crash(world, step, false), crash(world, step, true));
  return next;
}

function taken(world: World, step: Step): World {
  const readyAt = nextReadyAt(world.state);
  const after = give({ ...world, turns: world.turns + 1 }, step, { type: 'take', turnId: `turn ${world.turns}` });
  const expected = readyAt !== undefined && readyAt <= world.now;
  const found = after.out.length > world.out.length;
  if (expected === found) return after;
  return blame(after, expected ? 'a turn was ready and was not handed out' : 'a turn was handed out that was not ready');
}

function ended(world: World, step: Step, turnId: string, ending: Ending): World {
  const batch = world.out.find((one) => one.turnId === turnId);
  const base = { ...world, out: world.out.filter((one) => one !== batch) };
  const after = give(base, step, { type: 'finished', turnId, ending, jitter: 0.5 });
  return blame(after, batch && endingWrong(after, batch, ending));
}

/** What an ending must have made of each event of its turn. */
function endingWrong({ table, banned, dropped, now }: World, batch: Batch, ending: Ending): string | undefined {
  const attempts = Math.max(...batch.entries.map((entry) => entry.attempts)) + (ending.how === 'again' && ending.cause !== 'stop' ? 1 : 0);
  for (const { eventId, interrupted } of batch.entries) {
    const row = table.get(eventId);
    const isOver = ending.how === 'again' && attempts > MAX_ATTEMPTS;
    const said = ending.how === 'again' ? 'queued' : ending.how;
    const status = dropped.has(eventId) ? 'done' : banned.has(eventId) || isOver ? 'dead' : said;
    if (row?.status !== status) return `a turn ended as ${ending.how} and its event is ${row?.status ?? 'lost'}`;
    if (ending.how !== 'again' || status !== 'queued') continue;
    if (row.entry.attempts !== attempts) return `a ${ending.cause} was counted wrongly`;
    if (row.entry.interrupted !== (interrupted || ending.interrupted)) return 'a turn that was cut short does not say so';
    if (ending.cause === 'failure' && row.entry.notBeforeMs <= now) return 'a failure does not wait';
  }
  return undefined;
}

function leave(world: World, step: Step, channelId: ChannelId): World {
  const gone = [...world.table.values()].filter(({ entry, status }) => entry.channelId === channelId && (status === 'queued' || status === 'dispatched'));
  const banned = new Set([...world.banned, ...gone.map(({ entry }) => entry.eventId)]);
  const input: InboxInput = { type: 'left', channelId };
  const wrong = cutWrong(world, step, input, false);
  return blame(give({ ...world, banned, leaves: world.leaves + 1 }, step, input), wrong);
}

/** Done at once, whatever the turns come to; what waits is left alone. */
function cancel(world: World, step: Step, channelId: ChannelId): World {
  const input: InboxInput = { type: 'cancelled', channelId, outcome: 'cancelled' };
  const gone = wantedIn(world, channelId).flatMap(({ entries }) => entries.map(({ eventId }) => eventId));
  const after = give({ ...world, dropped: new Set([...world.dropped, ...gone]), cancels: world.cancels + 1 }, step, input);
  const wrong = gone.every((id) => after.table.get(id)?.status === 'done') ? undefined : 'what was cancelled is not done';
  return blame(after, cutWrong(world, step, input, true) ?? wrong);
}

/** Turns that are out in a channel, of which nothing was decided before their end. */
function wantedIn({ out, banned, dropped }: World, channelId: ChannelId): readonly Batch[] {
  return out.filter((batch) => batch.channelId === channelId && !batch.entries.some(({ eventId }) => banned.has(eventId) || dropped.has(eventId)));
}

function cutWrong(world: World, step: Step, input: Extract<InboxInput, { type: 'left' | 'cancelled' }>, gently: boolean): string | undefined {
  const { commands } = step(world.state, input, world.now);
  const cut = commands.flatMap((command) => (command.type === 'cut_short' ? [`${command.turnId} ${String(command.gently)}`] : []));
  const expected = wantedIn(world, input.channelId).map(({ turnId }) => `${turnId} ${String(gently)}`);
  return cut.sort().join() === expected.sort().join() ? undefined : `the turns of a channel that was ${input.type} are not those that are cut short`;
}

/** The process dies and starts again on its table; what was out is gone. */
function crash(world: World, step: Step, answered: boolean): World {
  const { queued, stranded } = rowsOf(world.table);
  const input: InboxInput = { type: 'restored', queued, stranded, answered: new Set(answered ? stranded.map(({ turnId }) => turnId) : []) };
  const after = give({ ...world, state: emptyInbox(world.state.settings), out: [], crashes: world.crashes + 1 }, step, input);
  const ending = answered ? DONE : RESTART;
  const { banned } = world;
  return blame({ ...after, banned }, stranded.map((batch) => endingWrong({ ...after, banned: new Set() }, batch, ending)).find((wrong) => wrong !== undefined));
}

/** One step, with its commands performed in order, each checked. */
function give(world: World, step: Step, input: InboxInput): World {
  const { state, commands } = step(world.state, input, world.now);
  return commands.reduce(perform, { ...world, state });
}

function perform(world: World, command: InboxCommand): World {
  switch (command.type) {
    case 'save':
      return save(world, command.save);
    case 'dispatch':
      return blame({ ...world, out: [...world.out, command.batch] }, dispatchWrong(world, command.batch));
    case 'give_up':
      return blame(world, command.batch.entries.every(({ eventId }) => world.table.get(eventId)?.status === 'dead') ? undefined : 'given up, and not dead');
    case 'cut_short':
      return world;
    default:
      throw new TypeError('unreachable');
  }
}

/** The change as the WHERE of its statement has it; here a change that finds no row is wrong. */
function save(world: World, change: Save): World {
  const id = 'entry' in change ? change.entry.eventId : change.eventId;
  const row = world.table.get(id);
  const put = (next: Row): World => ({ ...world, table: new Map([...world.table, [id, next]]) });
  switch (change.change) {
    case 'insert':
      return row === undefined ? put({ entry: change.entry, status: 'queued' }) : blame(world, 'an event was inserted twice');
    case 'dispatched':
      if (row?.status !== 'queued') return blame(world, 'an event was marked as dispatched that does not wait');
      return put({ entry: row.entry, status: 'dispatched', turnId: change.turnId });
    case 'queued':
      if (row?.status !== 'dispatched') return blame(world, 'an event came back that was not dispatched');
      return put({ entry: change.entry, status: 'queued' });
    case 'done':
      return row?.status === 'dispatched' ? put({ entry: row.entry, status: 'done' }) : blame(world, 'an event is done that was not dispatched');
    case 'dead':
      if (row?.status !== 'dispatched' && row?.status !== 'queued') return blame(world, 'an event died that was not alive');
      return put({ entry: row.entry, status: 'dead' });
    default:
      throw new TypeError('unreachable');
  }
}

function dispatchWrong({ table, out, banned, now }: World, batch: Batch): string | undefined {
  const [first] = batch.entries;
  if (out.some((one) => one.lane === batch.lane)) return 'two turns are in flight in one lane';
  for (const entry of batch.entries) {
    const row = table.get(entry.eventId);
    if (row?.status !== 'dispatched' || row.turnId !== batch.turnId) return 'a turn was dispatched before its save';
    if (banned.has(entry.eventId)) return 'an event of a channel that was left was dispatched';
    if (entry.notBeforeMs > now) return 'an event was dispatched before its time';
    if (entry.author !== first.author || entry.destination !== first.destination || entry.lane !== batch.lane) return 'a turn mixes authors or destinations';
  }
  const rows = [...table.values()].filter(({ entry }) => entry.lane === batch.lane);
  const last = Math.max(...rows.map(({ entry }, index) => (batch.entries.some(({ eventId }) => eventId === entry.eventId) ? index : -1)));
  return rows.slice(0, last).some(({ status }) => status === 'queued') ? 'a turn overtook an older event of its lane' : undefined;
}

/** What must hold between two inputs: the table, as a crash would restore it, is what the machine holds. */
function standing({ state, table, out, banned, dropped }: World): string | undefined {
  const { queued, stranded } = rowsOf(table);
  const waiting = [...everyLane(state)].flatMap(({ queue }) => queue);
  const flying = [...everyLane(state)].flatMap(({ inFlight }) => inFlight ?? []);
  const ids = [...waiting, ...flying.flatMap(({ entries }) => entries)].map(({ eventId }) => eventId);
  if (new Set(ids).size !== ids.length) return 'an event is in two places';
  if (linesOf(waiting) !== linesOf(queued)) return `the table holds other waiting events than the machine: ${linesOf(queued)} instead of ${linesOf(waiting)}`;
  const turns = (batches: readonly Batch[]): string => batches.map(({ turnId, entries }) => `${turnId}:${entries.map(({ eventId }) => eventId).sort().join()}`).sort().join(' ');
  // A turn in a channel that was left ends as dead, whether its rows say so already or not; one that was cancelled is done.
  const wanted = (batches: readonly Batch[]): readonly Batch[] =>
    batches.filter(({ entries: [first] }) => !banned.has(first.eventId) && !dropped.has(first.eventId));
  if (turns(wanted(flying)) !== turns(wanted(stranded))) return 'the table holds other turns than the machine';
  if (turns(flying) !== turns(out)) return 'the machine holds other turns than are out';
  if (waiting.some(({ attempts }) => attempts > MAX_ATTEMPTS)) return 'an event is tried without end';
  return undefined;
}

/** Whether every event that was accepted can come to an end from here: turns end well, time passes. */
function stuck(world: World, step: Step): string | undefined {
  let here = world;
  for (let round = 0; round < 12; round += 1) {
    for (const { turnId } of here.out) here = ended(here, step, turnId, DONE);
    const readyAt = nextReadyAt(here.state);
    if (readyAt === undefined) break;
    here = taken({ ...here, now: readyAt > here.now ? readyAt : here.now, turns: here.turns + 1 }, step);
  }
  if (here.wrong !== undefined) return here.wrong;
  const open = [...here.table.values()].filter(({ status }) => status !== 'done' && status !== 'dead');
  return open.length === 0 ? undefined : 'an event never comes to an end';
}

function rowsOf(table: World['table']): { readonly queued: readonly Entry[]; readonly stranded: readonly Batch[] } {
  const rows = [...table.values()];
  const turnIds = new Set(rows.flatMap(({ status, turnId }) => (status === 'dispatched' && turnId !== undefined ? [turnId] : [])));
  const stranded = [...turnIds].flatMap((turnId): readonly Batch[] => {
    const [first, ...rest] = rows.filter((row) => row.status === 'dispatched' && row.turnId === turnId).map(({ entry }) => entry);
    return first === undefined ? [] : [{ turnId, lane: first.lane, channelId: first.channelId, entries: [first, ...rest] }];
  });
  return { queued: rows.filter(({ status }) => status === 'queued').map(({ entry }) => entry), stranded };
}

/** Waiting entries lane by lane, in their order, with all that a restart needs of them. */
function linesOf(entries: readonly Entry[]): string {
  const lines = entries.map(({ lane, eventId, attempts, interrupted, notBeforeMs, receivedAtMs }) => [lane, [eventId, attempts, interrupted, notBeforeMs, receivedAtMs].join()] as const);
  const lanes = [...new Set(lines.map(([lane]) => lane))].sort();
  return lanes.map((lane) => `${lane}: ${lines.filter((line) => line[0] === lane).map(([, line]) => line).join(' ')}`).join('; ');
}

function blame(world: World, wrong: string | undefined): World {
  return { ...world, wrong: world.wrong ?? wrong };
}

/** Every lane as `change` makes it. */
export function withChanged(state: InboxState, change: (lane: Lane) => Lane): InboxState {
  const all = [...state.channels].flatMap(([channelId, { lanes }]) => [...lanes].map(([lane, held]) => [{ channelId, lane }, held] as const));
  return all.reduce((next, [name, held]) => withLane(next, name, change(held)), state);
}

/**
 * Equal worlds have equal names. Of a time counts what is left of its wait, roughly: arrivals a few milliseconds earlier
 * or later are the same world. The order of arrival is the table's. What is over is over, however it ended and whatever
 * was decided of it, once no turn is out with it.
 */
function nameOf({ state, table, now, out, banned, dropped, turns, fails, leaves, cancels, crashes }: World): string {
  const left = (atMs: number): number => Math.max(0, Math.round((atMs - now) / ROUGHLY_MS));
  const entryName = ({ eventId, attempts, interrupted, notBeforeMs, receivedAtMs }: Entry): string =>
    [eventId.slice(0, 8), attempts, interrupted, left(notBeforeMs), left(later(receivedAtMs, GATHER_MS))].join();
  const held = [...state.channels.values()].flatMap(({ lanes }) => [...lanes]).sort(([, a], [, b]) => a.begun - b.begun);
  const lanes = held.map(([key, lane]) => [key, lane.queue.map(entryName), lane.inFlight?.entries.map(entryName), lane.decided]);
  const flying = new Set(out.flatMap(({ entries }) => entries.map(({ eventId }) => eventId)));
  const rows = [...table.values()].map(({ entry, status }) => {
    const { eventId } = entry;
    if (!flying.has(eventId) && (status === 'done' || status === 'dead')) return eventId.slice(0, 8);
    return [entryName(entry), status, banned.has(eventId), dropped.has(eventId)];
  });
  return JSON.stringify([lanes, rows, out.map(({ lane }) => lane), turns, fails, leaves, cancels, crashes]);
}
