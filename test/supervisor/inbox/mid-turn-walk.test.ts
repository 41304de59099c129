/**
 * Every state that the production reducer can reach while messages come into a turn: offered, tried, taken, refused, left
 * unanswered, dropped by a full queue, the turn cut short (before it published or after), cancelled by its owner or ended,
 * the supervisor killed. And faults planted into it that the walk must find.
 */
import { describe, expect, it } from 'vitest';
import { eventId, milliseconds } from '../../../src/model/index.ts';
import type { EventId, Milliseconds } from '../../../src/model/index.ts';
import { entriesOf, evidenceOf, MAX_PENDING } from '../../../src/supervisor/inbox/entry.ts';
import type { Batch, CutTurn, Entry } from '../../../src/supervisor/inbox/entry.ts';
import { flying, laneOf } from '../../../src/supervisor/inbox/lanes.ts';
import type { Lane } from '../../../src/supervisor/inbox/lanes.ts';
import { stepInbox } from '../../../src/supervisor/inbox/machine.ts';
import type { Ending, InboxCommand, InboxInput, InboxStep, Save } from '../../../src/supervisor/inbox/machine.ts';
import { emptyInbox } from '../../../src/supervisor/inbox/state.ts';
import type { InboxState } from '../../../src/supervisor/inbox/state.ts';
import { channel, entryOf, friend, inThread, message } from '../people.ts';
import { withChanged } from './world.ts';

type Step = (state: InboxState, input: InboxInput, now: Milliseconds) => InboxStep;

interface Row {
  readonly status: 'queued' | 'dispatched' | 'done' | 'dead';
  readonly turnId?: string;
  readonly above?: number;
}

interface World {
  readonly state: InboxState;
  readonly table: ReadonlyMap<EventId, Row>;
  readonly turns: number;
  readonly crashes: number;
  readonly cancels: number;
  /** Turns that were told to end. */
  readonly cut: ReadonlySet<string>;
  readonly wrong?: string;
}

const HERE = { channelId: channel, lane: channel };
const NOW = milliseconds(1_000_000);
const BOUNDS = { turns: 3, crashes: 1, cancels: 1 };
const DONE: Ending = { how: 'done', outcome: 'end_turn' };
const CUT: Ending = { how: 'again', reason: 'cut short', interrupted: true, cause: 'stop' };
const UNFINISHED: Ending = { how: 'done', outcome: 'cut short, and had published', unfinished: true };
const UNREAD: Ending = { ...CUT, interrupted: false };

const first = entryOf(message(), 0);
const inIt = (index: number, by?: typeof friend): Entry => entryOf(message({ tags: inThread(first.eventId), ...(by && { by }) }), index);
const SECOND = inIt(1);
const COMING = [first, SECOND, inIt(2, friend), entryOf(message(), 3)];
/** `others`: messages of the channel that only wait. Beside them it is full, the one turn may be cancelled, and skep is not killed. */
interface Way {
  readonly how: 'steer' | 'interrupt';
  readonly coming: readonly Entry[];
  readonly others: number;
}

const WAYS: readonly Way[] = [
  { how: 'steer', coming: COMING, others: 0 }, { how: 'interrupt', coming: COMING, others: 0 },
  { how: 'steer', coming: [first, SECOND, inIt(2), inIt(3)], others: MAX_PENDING - 2 },
];

/** Of a lane of their own that comes last, and not in this walk. */
function waiting(count: number): InboxState {
  const { event, ...more } = entryOf(message(), 1_000, { lane: `${channel}/other`, notBeforeMs: milliseconds(2 * NOW) });
  const queued = Array.from({ length: count }, (_, index): Entry => ({ ...more, event, eventId: eventId(index.toString(16).padStart(64, '0')) }));
  return stepInbox(emptyInbox({ gatherMs: 0 }), { type: 'restored', queued, stranded: [], answered: new Set() }, NOW).state;
}

const BEGINNINGS = new Map(WAYS.map((way): [Way, InboxState] => [way, waiting(way.others)]));

function moves(world: World, step: Step, way: Way): readonly World[] {
  const next: World[] = [];
  const lane = laneOf(world.state, HERE);
  for (const entry of way.coming) {
    if (!world.table.has(entry.eventId)) next.push(give(world, step, [{ type: 'accepted', entry, midTurn: { how: way.how, place: 'thread' } }]));
  }
  if (world.turns < (way.others > 0 ? 1 : BOUNDS.turns)) next.push(give({ ...world, turns: world.turns + 1 }, step, [{ type: 'take', turnId: `turn ${world.turns}` }]));
  const turnId = lane?.inFlight?.turnId ?? 'of nobody';
  for (const { eventId } of way.coming) {
    next.push(give(world, step, [{ type: 'steering', turnId, eventId, published: 0 }]));
    for (const answer of ['injected', 'refused', 'unanswered', 'passed'] as const) next.push(give(world, step, [{ type: 'steered', turnId, eventId, answer }]));
  }
  for (const ending of [DONE, CUT, UNREAD, ...(lane?.merging === undefined ? [] : [UNFINISHED])]) next.push(...ends(world, step, ending));
  if (way.others > 0 && world.cancels < BOUNDS.cancels) next.push(give({ ...world, cancels: world.cancels + 1 }, step, [{ type: 'cancelled', channelId: channel, outcome: 'cancelled' }]));
  if (way.others === 0 && world.crashes < BOUNDS.crashes) for (const published of [0, 1, 2]) next.push(crash(world, step, published, way));
  return next;
}

/** As the driver ends a turn: never while a message is being tried, and what is not known comes back, or was answered. */
function ends(world: World, step: Step, ending: Ending): readonly World[] {
  const { inFlight, given = [], offers = [], decided = false } = laneOf(world.state, HERE) ?? { queue: [] };
  if (inFlight === undefined || given.some(({ state }) => state === 'trying')) return [];
  const { turnId } = inFlight;
  const unknown = given.filter(({ state }) => state === 'unknown').map(({ entry }) => entry.eventId);
  const all = given.map(({ entry }) => entry.eventId);
  return [unknown, ...(ending.how === 'done' ? [all, []] : [])].map((eventIds) => {
    const input: InboxInput = { type: 'finished', turnId, ending, jitter: 0.5, apart: { eventIds, ending: CUT } };
    const after = give(world, step, [input]);
    const ids = flying({ queue: [], inFlight, given }).map(({ eventId }) => eventId);
    const before = inFlight.carried?.entries.map(({ eventId }) => eventId) ?? [];
    const isJoined = offers.length > 0 || eventIds.length > 0;
    const carried = decided ? [] : ending === UNFINISHED ? (isJoined ? [...before, ...ids.filter((id) => !eventIds.includes(id))] : []) : ending.how === 'done' ? [] : before;
    const isCarried = idsOf(laneOf(after.state, HERE)?.carried) === carried.join();
    return blame(blame(after, isCarried ? undefined : 'what was cut short after it had published is lost, or told of a turn that has nothing to do with it'), ids.map((eventId) => {
      const status = after.table.get(eventId)?.status;
      const expected = decided || ending.how === 'done' && !eventIds.includes(eventId) ? 'done' : 'queued';
      return status === expected ? undefined : `a message of a turn that ended as ${ending.how} is ${status ?? 'lost'}, not ${expected}`;
    }).find((wrong) => wrong !== undefined));
  });
}

function idsOf(cut: CutTurn | undefined): string {
  return cut?.entries.map(({ eventId }) => eventId).join() ?? '';
}

function beginning(way: Way): InboxState {
  return BEGINNINGS.get(way) ?? waiting(way.others);
}

/** Killed, and started again on its rows; the turn in flight is found with so many messages. */
function crash(world: World, step: Step, published: number, way: Way): World {
  const rows = COMING.flatMap((entry) => (world.table.has(entry.eventId) ? [{ entry, row: world.table.get(entry.eventId) }] : []));
  const queued = rows.filter(({ row }) => row?.status === 'queued').map(({ entry }) => entry);
  const [one, ...rest] = rows.filter(({ row }) => row?.status === 'dispatched');
  const turnId = one?.row?.turnId ?? '';
  const stranded: readonly Batch[] = one === undefined ? [] : [{ turnId, lane: channel, channelId: channel, entries: [one.entry, ...rest.map(({ entry }) => entry)] }];
  const unanswered = new Set(rows.filter(({ row }) => row?.status === 'dispatched' && published <= (row.above ?? -1)).map(({ entry }) => entry.eventId));
  const input: InboxInput = { type: 'restored', queued, stranded, answered: new Set(published > 0 ? [turnId] : []), unanswered };
  const after = give({ ...world, state: beginning(way), crashes: world.crashes + 1 }, step, [input]);
  const isWrong = rows.some(({ entry, row }) =>
    row?.status === 'dispatched' && after.table.get(entry.eventId)?.status !== (published > (row.above ?? 0) ? 'done' : 'queued'));
  return blame(after, isWrong ? 'a message is not answered over a kill by what was published since, or by what was before' : undefined);
}

function give(world: World, step: Step, inputs: readonly InboxInput[]): World {
  return inputs.reduce((before, input) => {
    const { state, commands } = step(before.state, input, NOW);
    return commands.reduce(perform, { ...before, state });
  }, world);
}

function perform(world: World, command: InboxCommand): World {
  switch (command.type) {
    case 'save':
      return save(world, command.save);
    case 'dispatch': {
      const { turnId } = command.batch;
      const { entries: [head, ...others] } = command.batch;
      const isOne = others.every(({ author, destination }) => author === head.author && destination === head.destination);
      const isOver = command.batch.carried?.entries.every(({ eventId }) => world.table.get(eventId)?.status === 'done') ?? true;
      if (!isOver) return blame(world, 'a turn carries on what is not over');
      const isOfPlace = evidenceOf(command.batch).every(({ destination }) => destination === head.destination);
      const saved = entriesOf(command.batch).every(({ eventId }) => isIn(world, eventId, turnId));
      return blame(world, !saved ? 'a turn began before its messages were saved' : !isOne ? 'a turn has two authors or places' : isOfPlace ? undefined : 'a turn took up one of another place');
    }
    case 'steer':
      return blame(world, isIn(world, command.entry.eventId, command.turnId) ? undefined : 'a message was given to a turn before it was saved');
    case 'offer': {
      const isWaiting = world.table.get(command.entry.eventId)?.status === 'queued';
      const isOpen = laneOf(world.state, HERE)?.decided !== true;
      return blame(world, !isWaiting ? 'a message was offered that does not wait' : isOpen ? undefined : 'a message was offered to a turn that its owner has cancelled');
    }
    case 'interrupt':
      return blame({ ...world, cut: new Set([...world.cut, command.turnId]) }, world.cut.has(command.turnId) ? 'a turn was cut short twice' : undefined);
    default:
      return world;
  }
}

function isIn({ table }: World, eventId: EventId, turnId: string): boolean {
  const row = table.get(eventId);
  return row?.status === 'dispatched' && row.turnId === turnId;
}

function save(world: World, change: Save): World {
  const id = 'entry' in change ? change.entry.eventId : change.eventId;
  const row = world.table.get(id);
  const put = (next: Row): World => ({ ...world, table: new Map([...world.table, [id, next]]) });
  switch (change.change) {
    case 'insert':
      return row === undefined ? put({ status: 'queued' }) : blame(world, 'inserted twice');
    case 'dispatched':
      return row?.status === 'queued' ? put({ status: 'dispatched', turnId: change.turnId }) : blame(world, 'dispatched, and did not wait');
    case 'given':
      if (row?.status !== 'queued' && row?.turnId !== change.turnId) return blame(world, 'given to a turn, and of another');
      return put({ status: 'dispatched', turnId: change.turnId, above: change.above });
    case 'queued':
      return row?.status === 'dispatched' ? put({ status: 'queued' }) : blame(world, 'came back, and was in no turn');
    case 'done':
      return row?.status === 'dispatched' ? put({ status: 'done' }) : blame(world, 'done, and was in no turn');
    case 'dead':
      return row?.status === 'queued' && change.outcome === 'overflow' ? put({ status: 'dead' }) : blame(world, 'dead, and did not wait too long');
    default:
      return blame(world, `not to be met here: ${change.change}`);
  }
}

/** Between two inputs: the rows, as a kill would leave them, are what the machine holds; what was read is of one turn. */
function standing(world: World): string | undefined {
  const lane = laneOf(world.state, HERE) ?? { queue: [] };
  const waiting = lane.queue.map(({ eventId }) => eventId);
  // What its owner has cancelled is done, whatever its turn comes to.
  const aloft = (lane.decided === true ? [] : flying(lane)).map(({ eventId }) => eventId);
  const rows = (status: Row['status']): string => [...world.table].filter(([, row]) => row.status === status).map(([id]) => id).sort().join();
  if (new Set([...waiting, ...aloft]).size !== waiting.length + aloft.length) return 'a message is in two places';
  if ([...waiting].sort().join() !== rows('queued')) return 'other messages wait than their rows say';
  if ([...aloft].sort().join() !== rows('dispatched')) return 'other messages are in a turn than their rows say';
  if ((lane.given ?? []).filter(({ state }) => state === 'trying').length > 1) return 'two messages are tried at once';
  for (const { entry, state } of lane.given ?? []) {
    if (lane.decided !== true && world.table.get(entry.eventId)?.above !== (state === 'taken' ? 0 : 1)) return 'a row says of what was taken what is not so';
    if (entry.author !== first.author || entry.destination !== first.destination) return 'a message was given to a turn of another author or place';
  }
  if (lane.merging !== undefined && !world.cut.has(lane.inFlight?.turnId ?? '')) return 'a turn is merged that was not cut short';
  return undefined;
}

/** Every message that was accepted comes to its end, when all turns end well. */
function stuck(world: World, step: Step): string | undefined {
  let here = world;
  for (let round = 0; round < 10; round += 1) {
    const lane = laneOf(here.state, HERE);
    if (lane === undefined) break;
    const trying = lane.given?.find(({ state }) => state === 'trying');
    const turnId = lane.inFlight?.turnId;
    const inputs: readonly InboxInput[] = turnId === undefined
      ? [{ type: 'take', turnId: `last ${round}` }]
      : [...(trying ? [{ type: 'steered', turnId, eventId: trying.entry.eventId, answer: 'passed' } as const] : []), { type: 'finished', turnId, ending: DONE, jitter: 0 }];
    here = give(here, step, inputs);
  }
  return here.wrong ?? ([...here.table.values()].every(({ status }) => status === 'done' || status === 'dead') ? undefined : 'a message never comes to its end');
}

function blame(world: World, wrong: string | undefined): World {
  const first = world.wrong ?? wrong;
  return first === undefined ? world : { ...world, wrong: first };
}

function nameOf(world: World): string {
  const lane: Lane = laneOf(world.state, HERE) ?? { queue: [] };
  const { queue, inFlight } = lane;
  const entry = ({ eventId, interrupted, merge }: Entry): string => [eventId.slice(0, 6), interrupted, merge].join();
  const turn = inFlight && [inFlight.turnId, entriesOf(inFlight).map(entry), inFlight.merged?.entries.length, idsOf(inFlight.carried)];
  const given = lane.given?.map((one) => [entry(one.entry), one.state]);
  const rows = [...world.table].map(([id, { status, above }]) => [id.slice(0, 6), status, above]).sort();
  return JSON.stringify([queue.map(entry), idsOf(lane.carried), turn, lane.offers, given, lane.merging, lane.decided, rows, world.turns, world.crashes, world.cancels]);
}

function walk(step: Step, way: Way): { readonly states: number; readonly wrong?: string } {
  const seen = new Set<string>();
  let edge: readonly World[] = [{ state: beginning(way), table: new Map(), turns: 0, crashes: 0, cancels: 0, cut: new Set() }];
  while (edge.length > 0) {
    const beyond: World[] = [];
    for (const next of edge.flatMap((world) => moves(world, step, way))) {
      const wrong = next.wrong ?? standing(next);
      if (wrong !== undefined) return { states: seen.size, wrong };
      const name = nameOf(next);
      if (seen.has(name)) continue;
      seen.add(name);
      const end = stuck(next, step);
      if (end !== undefined) return { states: seen.size, wrong: end };
      beyond.push(next);
    }
    edge = beyond;
  }
  return { states: seen.size };
}

describe('messages that come into a turn, in every world', () => {
  it.each(WAYS.map((way) => [`${way.how}, beside ${way.others}`, way] as const))('%s: each is in one place, on disk before it is read, and comes to its end', (name, way) => {
    const { states, wrong } = walk(stepInbox, way);
    process.stdout.write(`mid-turn, ${name}: ${states} states\n`);
    expect(wrong).toBeUndefined();
    expect(states).toBeGreaterThan(way.how === 'steer' ? 1_000 : 100);
  });
});

/** Without what the lane is to carry on. */
function bare({ queue, inFlight }: Lane): Lane {
  return { queue, ...(inFlight && { inFlight }) };
}

function commanding(type: InboxInput['type'], change: (commands: readonly InboxCommand[]) => readonly InboxCommand[]): Step {
  return (state, input, now) => {
    const step = stepInbox(state, input, now);
    return input.type === type ? { ...step, commands: change(step.commands) } : step;
  };
}

const FAULTS: Readonly<Record<string, Step>> = {
  'gives a message before it is saved': commanding('steering', (commands) => [...commands].reverse()),
  'does not save what it gives': commanding('steering', (commands) => commands.filter(({ type }) => type !== 'save')),
  'does not save that the agent has it': commanding('steered', (commands) => commands.filter((command) => command.type !== 'save' || command.save.change !== 'given')),
  'keeps the row of what was refused': commanding('steered', (commands) => commands.filter((command) => command.type !== 'save' || command.save.change !== 'queued')),
  'cuts a turn short for each message': (state, input, now) => {
    const step = stepInbox(state, input, now);
    const turnId = input.type === 'accepted' ? laneOf(state, HERE)?.inFlight?.turnId : undefined;
    const isNew = step.commands.some((command) => command.type === 'save' && command.save.change === 'insert');
    return turnId !== undefined && isNew && !step.commands.some(({ type }) => type === 'interrupt')
      ? { ...step, commands: [...step.commands, { type: 'interrupt', turnId }] } : step;
  },
  'gives away again what may have been read': (state, input, now) => {
    const step = stepInbox(state, input, now);
    if (input.type !== 'steered' || input.answer !== 'unanswered') return step;
    return { ...step, state: withChanged(step.state, (lane) => ({ ...lane, queue: [...(lane.given ?? []).map(({ entry }) => entry), ...lane.queue] })) };
  },
  'offers what somebody else has written': (state, input, now) => {
    const step = stepInbox(state, input, now);
    if (input.type !== 'accepted' || input.entry.author !== friend.pubkey) return step;
    const { eventId } = input.entry;
    return { ...step, state: withChanged(step.state, (lane) => (lane.inFlight === undefined ? lane : { ...lane, offers: [eventId, ...(lane.offers ?? [])] })) };
  },
  'tries two messages at once': (state, input, now) => {
    const blind = withChanged(state, (lane) => ({ ...lane, ...(lane.given && { given: lane.given.map((one) => ({ ...one, state: 'taken' as const })) }) }));
    return stepInbox(input.type === 'steering' ? blind : state, input, now);
  },
  'takes up what came in another place': (state, input, now) => {
    const step = stepInbox(state, input, now);
    if (input.type !== 'finished') return step;
    const isCut = ({ merge }: Entry): boolean => merge === 'steer' || merge === 'interrupt';
    const isAway = ({ destination }: Entry): boolean => destination !== first.eventId;
    return {
      ...step,
      state: withChanged(step.state, ({ queue, ...lane }) => ({
        ...lane,
        queue: [
          ...queue.filter(isCut), ...queue.filter(isAway).map((entry): Entry => ({ ...entry, merge: 'joins' })),
          ...queue.filter((entry) => !isCut(entry) && !isAway(entry)),
        ],
      })),
    };
  },
  'forgets what was cut short after it had published': (state, input, now) => {
    const step = stepInbox(state, input, now);
    return input.type === 'finished' ? { ...step, state: withChanged(step.state, bare) } : step;
  },
  'forgets it when the turn that carries it on comes back': (state, input, now) => {
    const step = stepInbox(state, input, now);
    return input.type === 'finished' && input.ending.how === 'again' ? { ...step, state: withChanged(step.state, bare) } : step;
  },
  'carries on what is not over': commanding('take', (commands) => commands.map((command) =>
    (command.type === 'dispatch' && command.batch.merged ? { ...command, batch: { ...command.batch, carried: command.batch.merged } } : command))),
  'loses what the turn was given': (state, input, now) => {
    return stepInbox(withChanged(state, (lane) => (input.type === 'finished' ? { ...lane, given: [] } : lane)), input, now);
  },
  'answers with the turn what was not answered': (state, input, now) => {
    if (input.type !== 'finished') return stepInbox(state, input, now);
    const { type, turnId, ending, jitter } = input;
    return stepInbox(state, { type, turnId, ending, jitter }, now);
  },
  'answers over a kill what was not answered': (state, input, now) =>
    stepInbox(state, input.type === 'restored' ? { ...input, unanswered: new Set() } : input, now),
  'forgets whom a turn was cut short for': (state, input, now) => {
    const step = stepInbox(state, input, now);
    return input.type === 'steered' && input.answer === 'refused' ? { ...step, state: withChanged(step.state, (lane) => ({ ...lane, queue: lane.queue.slice(1) })) } : step;
  },
};

describe('a planted fault is found', () => {
  it.each(Object.entries(FAULTS))('%s', (name, faulty) => {
    expect(WAYS.some((way) => walk(faulty, way).wrong !== undefined), name).toBe(true);
  });
});
