/**
 * The world around one journal record, small enough to walk whole: a disk that commits, refuses, or refuses and
 * commits all the same; a relay that takes, refuses or loses an event, now or later; a process that may die anywhere;
 * a client that asks again; time that passes. `moves` lists everything that can happen next.
 */
import { atRest } from '../../../src/broker/journal/machine.ts';
import type { RecordCommand, RecordInput, RecordState, RecordStep } from '../../../src/broker/journal/machine.ts';
import { failed } from '../../../src/broker/journal/verdict.ts';
import type { Evidence, Verdict } from '../../../src/broker/journal/verdict.ts';
import { later, milliseconds } from '../../../src/model/index.ts';
import type { Milliseconds } from '../../../src/model/index.ts';
import { START_MS } from '../clock.ts';

export type Step = (state: RecordState, input: RecordInput, now: Milliseconds) => RecordStep;

type Row =
  | { readonly status: 'none' | 'claimed' }
  | { readonly status: 'signed'; readonly evidence: Evidence }
  | { readonly status: 'done'; readonly verdict: Verdict; readonly evidence?: Evidence };

export interface World {
  readonly row: Row;
  /** The flight, if there is one, and the command it waits for. */
  readonly flight: { readonly state: RecordState; readonly waiting: RecordCommand } | undefined;
  readonly planned: number;
  readonly sent: readonly string[];
  readonly kept: readonly string[];
  /** Sent, and neither kept nor lost yet. */
  readonly air: readonly string[];
  readonly told: readonly { readonly verdict: Verdict; readonly row: Row }[];
  readonly old: boolean;
  readonly crashes: number;
  readonly asks: number;
  readonly ownMessage: boolean;
  /** What a rule of the disk or the road forbids, seen as it happened. */
  readonly wrong: string | undefined;
}

export const BOUNDS = { crashes: 2, asks: 4 } as const;

export function newWorld(ownMessage: boolean): World {
  return {
    row: { status: 'none' },
    flight: undefined,
    planned: 0,
    sent: [],
    kept: [],
    air: [],
    told: [],
    old: false,
    crashes: 0,
    asks: 0,
    ownMessage,
    wrong: undefined,
  };
}

/** Everything that can happen next. `events` are the event of the first plan, of a second one, and so on. */
export function moves(world: World, step: Step, events: readonly Evidence[]): readonly World[] {
  const next: World[] = [];
  const go = (base: World, state: RecordState, input: RecordInput): void => {
    next.push(advance(base, step, state, input));
  };
  // A clock may be set back, too.
  next.push({ ...world, old: !world.old });
  for (const id of world.air) {
    const air = world.air.filter((other) => other !== id);
    next.push({ ...world, air, kept: [...new Set([...world.kept, id])] }, { ...world, air });
  }
  if (world.flight === undefined) {
    if (world.asks < BOUNDS.asks) {
      const base = { ...world, asks: world.asks + 1 };
      const [first] = events;
      if (!world.ownMessage) go(base, { status: 'fresh' }, { type: 'submit' });
      else if (first !== undefined) go(base, { status: 'fresh' }, { type: 'submit', evidence: first });
      if (world.row.status === 'claimed' || world.row.status === 'signed')
        go(base, stateOf(world.row), { type: 'recover' });
    }
    return next;
  }
  if (world.crashes < BOUNDS.crashes) next.push({ ...world, flight: undefined, crashes: world.crashes + 1 });
  const { state, waiting } = world.flight;
  for (const [base, input] of answers(world, waiting, events)) go(base, state, input);
  return next;
}

type Answered = readonly [World, RecordInput];

function answers(world: World, command: RecordCommand, events: readonly Evidence[]): readonly Answered[] {
  switch (command.type) {
    case 'store_claim': {
      if (world.row.status !== 'none') return [[world, { type: 'taken', record: stateOf(world.row) }]];
      const row: Row =
        command.evidence === undefined ? { status: 'claimed' } : { status: 'signed', evidence: command.evidence };
      return disk(world, row);
    }
    case 'execute': {
      const event = events[world.planned];
      const base = { ...world, planned: world.planned + 1 };
      const ended: Answered = [base, { type: 'decided', verdict: failed('action_failed', 'no') }];
      return event === undefined ? [ended] : [ended, [base, { type: 'planned', evidence: event }]];
    }
    case 'store_evidence':
      if (world.row.status !== 'claimed') return [[world, { type: 'fenced' }]];
      return disk(world, { status: 'signed', evidence: command.evidence });
    case 'publish':
      return relay(world, command.event.id, command.first);
    case 'look_up': {
      const kept = world.kept.includes(command.event.id);
      return [
        [world, { type: kept ? 'found' : 'absent' }],
        [world, { type: 'unreadable' }],
      ];
    }
    case 'store_result': {
      if (world.row.status === 'none' || (world.row.status === 'done' && !isLost(world.row))) {
        return [[world, { type: 'fenced' }]];
      }
      const carried = 'evidence' in world.row ? { evidence: world.row.evidence } : {};
      return disk(world, { status: 'done', verdict: command.verdict, ...carried });
    }
    case 'deliver':
      return [];
    default:
      throw new TypeError('unreachable');
  }
}

/** A commit that ends well, one that fails, and one that fails although it reached the disk. */
function disk(world: World, row: Row): readonly Answered[] {
  return [
    [{ ...world, row }, { type: 'stored' }],
    [world, { type: 'not_stored' }],
    [{ ...world, row }, { type: 'not_stored' }],
  ];
}

function relay(world: World, id: string, first: boolean): readonly Answered[] {
  const withdrawn: readonly Answered[] = first
    ? [[world, { type: 'withdrawn', verdict: failed('unauthenticated', 'gone') }]]
    : [];
  const durable = 'evidence' in world.row && world.row.evidence.event.id === id;
  const base: World = {
    ...world,
    sent: [...new Set([...world.sent, id])],
    wrong: world.wrong ?? (durable ? undefined : 'an event was sent that is not on disk')
      ?? (isLost(world.row) ? 'an event was sent that was given up' : undefined),
  };
  const kept: World = { ...base, kept: [...new Set([...world.kept, id])] };
  const lost: RecordInput = { type: 'unanswered', reason: 'cut' };
  const flying: World = { ...base, air: [...new Set([...world.air, id])] };
  return [
    ...withdrawn,
    [kept, { type: 'accepted' }],
    [kept, lost],
    [flying, lost],
    // A relay may refuse a second copy for any reason, and refuse a first one.
    [base, { type: 'rejected', reason: 'invalid: no' }],
    ...(world.kept.includes(id) ? [[base, { type: 'rejected', reason: 'duplicate: have it' }] satisfies Answered] : []),
  ];
}

function advance(base: World, step: Step, state: RecordState, input: RecordInput): World {
  const taken = step(state, input, base.old ? later(milliseconds(START_MS), 3_600_000) : milliseconds(START_MS));
  const [command] = taken.commands;
  if (command === undefined)
    return { ...base, flight: undefined, wrong: `${state.status} has no way on from ${input.type}` };
  if (command.type !== 'deliver') return { ...base, flight: { state: taken.state, waiting: command } };
  return { ...base, flight: undefined, told: [...base.told, { verdict: command.verdict, row: base.row }] };
}

function stateOf(row: Row): RecordState {
  switch (row.status) {
    case 'none':
      return { status: 'fresh' };
    case 'claimed':
      return { status: 'claimed' };
    case 'signed':
      return { status: 'doubtful', evidence: row.evidence };
    case 'done':
      return atRest(row.verdict, row.evidence);
    default:
      throw new TypeError('unreachable');
  }
}

function isLost(row: Row): boolean {
  return stateOf(row).status === 'lost';
}

/** What must never be true of a world. The first that is, or undefined. */
export function wrongOf(world: World): string | undefined {
  if (world.wrong !== undefined) return world.wrong;
  if (world.planned > 1) return 'one operation was executed twice';
  if (world.sent.length > 1) return 'two events were sent for one operation';
  const onTheWay = world.kept.length > 0 || world.air.length > 0;
  if (world.row.status === 'done' && world.row.verdict.status === 'failed' && onTheWay) {
    return 'a record failed, and its event is on the relay';
  }
  for (const { verdict, row } of world.told) {
    if (verdict.status === 'succeeded' && row.status !== 'done') return 'a result was told before it was durable';
    if (verdict.status === 'succeeded' && world.kept.length === 0)
      return 'success was told of an event the relay has not';
    // A claim that could not be stored is no record: the same request may come again and be executed.
    const recorded = verdict.status === 'failed' && row.status !== 'none' && row.status !== 'claimed';
    if (recorded && row.status !== 'done') return 'a failure was told before it was durable';
    if (recorded && onTheWay) return 'failure was told of an event that is on the relay';
  }
  const ends = new Set(world.told.filter(({ row }) => row.status === 'done').map(({ verdict }) => verdict.status));
  if (ends.has('succeeded') && ends.has('failed')) return 'success and failure were told of one record';
  return undefined;
}

/** Every world that can be reached, by breadth; stops at the first wrong one. */
export function walk(
  step: Step,
  events: readonly Evidence[],
  ownMessage: boolean,
): { readonly worlds: number; readonly wrong?: string } {
  const seen = new Set<string>();
  let edge: readonly World[] = [newWorld(ownMessage)];
  while (edge.length > 0) {
    const beyond: World[] = [];
    for (const world of edge) {
      for (const next of moves(world, step, events)) {
        const name = nameOf(next);
        if (seen.has(name)) continue;
        seen.add(name);
        const wrong = wrongOf(next);
        if (wrong !== undefined) return { worlds: seen.size, wrong };
        beyond.push(next);
      }
    }
    edge = beyond;
  }
  return { worlds: seen.size };
}

/** Equal worlds have equal names; of an event its id, and of what was told its set. */
function nameOf(world: World): string {
  const told = [...new Set(world.told.map((each) => JSON.stringify(each, plain)))].sort();
  return JSON.stringify({ ...world, told }, plain);
}

function plain(key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (key === 'event' && typeof value === 'object' && value !== null && 'id' in value) return value.id;
  return value;
}
