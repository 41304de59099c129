/**
 * The journal's world with company: three namespaces that use the same request id, two bodies under it, runs of the
 * broker that die or are taken over, a permission that may be withdrawn. The reducer, and what a submission learns of
 * a record that was there before it, are the production code; disk, relay, client and time do whatever they may.
 * `moves` lists everything that can happen next; what must never happen is in `invariants.ts`.
 */
import type { encounter } from '../../../src/broker/journal/flight.ts';
import { atRest } from '../../../src/broker/journal/machine.ts';
import type { RecordCommand, RecordInput, RecordState } from '../../../src/broker/journal/machine.ts';
import type { FoundRecord, Namespace } from '../../../src/broker/journal/rows.ts';
import { failed, indeterminate } from '../../../src/broker/journal/verdict.ts';
import type { Evidence, Verdict } from '../../../src/broker/journal/verdict.ts';
import { later, milliseconds, unreachable } from '../../../src/model/index.ts';
import { START_MS } from '../clock.ts';
import { AGENT, SIBLING } from '../people.ts';
import type { Step } from './world.ts';

export const NAMESPACES: readonly Namespace[] = [
  { community: 'wss://one', principal: AGENT.pubkey },
  { community: 'wss://one', principal: SIBLING.pubkey },
  { community: 'wss://two', principal: AGENT.pubkey },
];

/** The production rules, each of which a planted fault may replace. */
export interface Rules {
  readonly step: Step;
  readonly meet: typeof encounter;
  /** What a record is found by, the request id aside. */
  readonly keyOf: (namespace: Namespace) => string;
  /** What a flight is joined by, the key aside. */
  readonly joinedBy: (digest: string) => string;
}

export interface Row {
  readonly digest: string;
  /** The run of the broker that may go on with it. */
  readonly run: number;
  readonly status: 'claimed' | 'signed' | 'done' | 'discarded';
  readonly evidence?: Evidence;
  readonly verdict?: Verdict;
}

/** `by` is the place of its namespace. */
export interface Submission {
  readonly by: number;
  readonly digest: string;
}

export interface Flight {
  readonly key: string;
  readonly digest: string;
  readonly run: number;
  readonly executes: boolean;
  readonly state: RecordState;
  readonly waiting: RecordCommand;
  /** Who submitted and is not told yet; whoever waited too long is gone from here. */
  readonly waiters: readonly Submission[];
  /** The namespace whose action is executed. */
  readonly by: number;
}

/** What one namespace's operation came to on the outside, and what its clients were told. */
export interface Effects {
  readonly executions: number;
  readonly sent: readonly string[];
  readonly kept: readonly string[];
  readonly air: readonly string[];
  /** Every send so far was answered with a no. */
  readonly refused: boolean;
  readonly toldFailed: boolean;
}

export interface World {
  readonly rows: Readonly<Record<string, Row>>;
  readonly flights: readonly Flight[];
  readonly effects: readonly Effects[];
  readonly run: number;
  readonly old: boolean;
  readonly permitted: boolean;
  readonly crashes: number;
  readonly asks: number;
  /** What happened on the way into this world. */
  readonly happened: Happening;
}

export type Happening =
  | { readonly type: 'nothing' }
  | { readonly type: 'executed'; readonly flight: Flight; readonly rowBefore: Row | undefined }
  | { readonly type: 'sent'; readonly flight: Flight; readonly id: string; readonly rowBefore: Row | undefined }
  | { readonly type: 'stuck'; readonly flight: Flight }
  | { readonly type: 'rewritten'; readonly rowBefore: Row; readonly row: Row }
  | { readonly type: 'told'; readonly flight: Flight; readonly verdict: Verdict; readonly replayed: boolean; readonly row: Row | undefined };

const NOTHING: Happening = { type: 'nothing' };

export interface Bounds {
  readonly namespaces: number;
  readonly digests: readonly string[];
  readonly asks: number;
  readonly crashes: number;
  /** Whether time passes and permissions end. */
  readonly passing: boolean;
  /** Whether commits may lie and events stay in the air. */
  readonly harsh: boolean;
}

/** What executing the action of a namespace comes to, first and, wrongly, again. */
export type Outcomes = (by: number, nth: number) => readonly RecordInput[];

export function newWorld(): World {
  const untouched: Effects = { executions: 0, sent: [], kept: [], air: [], refused: true, toldFailed: false };
  return {
    rows: {}, flights: [], effects: NAMESPACES.map(() => untouched), run: 0, old: false, permitted: true, crashes: 0, asks: 0,
    happened: NOTHING,
  };
}

export interface Play {
  readonly rules: Rules;
  readonly bounds: Bounds;
  readonly outcomes: Outcomes;
}

export function moves(from: World, play: Play): readonly World[] {
  const world = { ...from, happened: NOTHING };
  const { bounds } = play;
  const next: World[] = [];
  // A clock may be set back, too.
  if (bounds.passing) next.push({ ...world, old: !world.old });
  if (bounds.passing && world.permitted && world.asks > 0) next.push({ ...world, permitted: false });
  world.effects.forEach(({ air, kept }, by) => {
    for (const id of air) {
      next.push(withEffects(world, by, { air: without(air, id), kept: including(kept, id) }));
      next.push(withEffects(world, by, { air: without(air, id) }));
    }
  });
  for (const [key, row] of Object.entries(world.rows)) {
    const flies = world.flights.some((flight) => flight.key === key && flight.digest === row.digest && flight.run === world.run);
    if (row.status !== 'done' && row.status !== 'discarded' && row.run === world.run && !flies) next.push(recover(world, key, row, play));
    // Only what ended without an event is ever discarded: a page that was read.
    if (row.status === 'done' && row.evidence === undefined) next.push(withRow(world, key, { ...row, status: 'discarded' }));
  }
  if (world.asks < bounds.asks) {
    for (let by = 0; by < bounds.namespaces; by += 1) for (const digest of bounds.digests) next.push(ask(world, by, digest, play));
  }
  if (world.crashes < bounds.crashes && world.flights.length > 0) {
    const adopted = adopt(world);
    next.push({ ...adopted, flights: [] }, adopted);
  }
  world.flights.forEach((flight, at) => {
    const rest = world.flights.filter((_, index) => index !== at);
    const [waiter] = flight.waiters;
    // One that waited too long is told so, and the flight goes on.
    if (waiter !== undefined) next.push({ ...world, flights: [...rest, { ...flight, waiters: flight.waiters.slice(1) }] });
    for (const [base, input] of answers({ ...world, flights: rest }, flight, play)) next.push(go(base, flight, input, play));
  });
  return next;
}

/** The next run owns what is open; flights of the run before may be alive all the same. */
function adopt(world: World): World {
  const run = world.run + 1;
  const rows = Object.fromEntries(
    Object.entries(world.rows).map(([key, row]) => [key, row.status === 'claimed' || row.status === 'signed' ? { ...row, run } : row]),
  );
  return { ...world, rows, run, crashes: world.crashes + 1, permitted: true };
}

function ask(world: World, by: number, digest: string, play: Play): World {
  const { keyOf, joinedBy } = play.rules;
  const key = keyOf(namespaceAt(by));
  const asked = { ...world, asks: world.asks + 1 };
  const flying = world.flights.find(
    (flight) => flight.key === key && joinedBy(flight.digest) === joinedBy(digest) && flight.run === world.run,
  );
  if (flying !== undefined) {
    const joined = { ...flying, waiters: [...flying.waiters, { by, digest }] };
    return { ...asked, flights: asked.flights.map((flight) => (flight === flying ? joined : flight)) };
  }
  return begin(asked, { key, digest, executes: true, waiters: [{ by, digest }], by }, { status: 'fresh' }, { type: 'submit' }, play);
}

function recover(world: World, key: string, row: Row, play: Play): World {
  const by = NAMESPACES.findIndex((namespace) => play.rules.keyOf(namespace) === key);
  return begin(world, { key, digest: row.digest, executes: false, waiters: [], by }, stateOf(row), { type: 'recover' }, play);
}

type Beginning = Pick<Flight, 'key' | 'digest' | 'executes' | 'waiters' | 'by'>;

function begin(world: World, flight: Beginning, state: RecordState, input: RecordInput, play: Play): World {
  return go(world, { ...flight, run: world.run, state, waiting: { type: 'execute' } }, input, play);
}

function go(world: World, flight: Flight, input: RecordInput, { rules }: Play): World {
  const now = world.old ? later(milliseconds(START_MS), 3_600_000) : milliseconds(START_MS);
  const { state, commands: [command] } = rules.step(flight.state, input, now);
  if (command === undefined) return { ...world, happened: { type: 'stuck', flight } };
  if (command.type !== 'deliver') return { ...world, flights: [...world.flights, { ...flight, state, waiting: command }] };
  const { verdict, replayed } = command;
  const row = world.rows[flight.key];
  const told = verdict.status === 'failed' && row?.status === 'done' && row.digest === flight.digest;
  return {
    ...(told ? withEffects(world, flight.by, { toldFailed: true }) : world),
    happened: { type: 'told', flight, verdict, replayed, row },
  };
}

type Answered = readonly [World, RecordInput];

function answers(world: World, flight: Flight, play: Play): readonly Answered[] {
  const { waiting: command, key, by } = flight;
  const row = world.rows[key];
  switch (command.type) {
    case 'store_claim':
      if (row !== undefined) return [[world, play.rules.meet(foundOf(row, flight), flight.digest)]];
      return disk(world, flight, { digest: flight.digest, run: flight.run, ...signedOr('claimed', command.evidence) }, play);
    case 'execute': {
      if (!flight.executes) return [];
      const nth = effectsAt(world, by).executions;
      const executed: World = {
        ...withEffects(world, by, { executions: nth + 1 }), happened: { type: 'executed', flight, rowBefore: row },
      };
      const inputs = play.outcomes(by, nth);
      // Production asks once more before it hands out an event, and withholds an answer where it is released.
      const gone: RecordInput = { type: 'decided', verdict: GONE };
      return inputs.map((input) => [executed, input.type === 'planned' && !world.permitted ? gone : input]);
    }
    case 'store_evidence':
      if (row?.status !== 'claimed' || row.run !== flight.run) return [[world, { type: 'fenced' }]];
      return disk(world, flight, { ...row, ...signedOr('signed', command.evidence) }, play);
    case 'publish':
      return relay(world, flight, command, play);
    case 'look_up': {
      const isKept = effectsAt(world, by).kept.includes(command.event.id);
      return [[world, { type: isKept ? 'found' : 'absent' }], [world, { type: 'unreadable' }]];
    }
    case 'store_result': {
      if (row === undefined || !isFinishable(row, flight, command.verdict)) return [[world, { type: 'fenced' }]];
      return disk(world, flight, { ...row, status: 'done', verdict: command.verdict }, play);
    }
    case 'deliver':
      return [];
    default:
      return unreachable(command);
  }
}

const GONE = failed('unauthenticated', 'gone');

/** As the statement that stores a result has it. */
function isFinishable(row: Row, flight: Flight, verdict: Verdict): boolean {
  if (row.status === 'done') return row.verdict?.status === 'indeterminate' && verdict.status === 'succeeded';
  return row.status !== 'discarded' && row.run === flight.run;
}

function disk(world: World, { key }: Flight, row: Row, { bounds }: Play): readonly Answered[] {
  const written = withRow(world, key, row);
  const ends: readonly Answered[] = [[written, { type: 'stored' }], [world, { type: 'not_stored' }]];
  return bounds.harsh ? [...ends, [written, { type: 'not_stored' }]] : ends;
}

function relay(world: World, flight: Flight, { event, first }: RecordCommand & { type: 'publish' }, { bounds }: Play): readonly Answered[] {
  if (first && !world.permitted) return [[world, { type: 'withdrawn', verdict: GONE }]];
  const { by } = flight;
  const { id } = event;
  const before = effectsAt(world, by);
  const happened: Happening = { type: 'sent', flight, id, rowBefore: world.rows[flight.key] };
  const sent = (changes: Partial<Effects>): World =>
    ({ ...withEffects(world, by, { sent: including(before.sent, id), refused: false, ...changes }), happened });
  const kept = sent({ kept: including(before.kept, id) });
  const cut: RecordInput = { type: 'unanswered', reason: 'cut' };
  const has: readonly Answered[] = before.kept.includes(id) ? [[sent({}), { type: 'rejected', reason: 'duplicate: have it' }]] : [];
  return [
    [kept, { type: 'accepted' }],
    [kept, cut],
    bounds.harsh ? [sent({ air: including(before.air, id) }), cut] : [sent({}), cut],
    [sent({ refused: before.refused }), { type: 'rejected', reason: 'invalid: no' }],
    ...has,
  ];
}

function signedOr(status: 'claimed' | 'signed', evidence: Evidence | undefined): Pick<Row, 'status' | 'evidence'> {
  return evidence === undefined ? { status } : { status: 'signed', evidence };
}

function foundOf(row: Row, flight: Flight): FoundRecord {
  const key = { ...namespaceAt(flight.by), requestId: 'r-1' };
  return { row: 1, key, digest: row.digest, ours: row.run === flight.run, state: stateOf(row) };
}

function stateOf({ status, evidence, verdict }: Row): RecordState {
  switch (status) {
    case 'claimed':
    case 'discarded':
      return { status };
    case 'signed':
      return evidence === undefined ? { status: 'claimed' } : { status: 'doubtful', evidence };
    case 'done':
      return atRest(verdict ?? indeterminate('internal', 'no result'), evidence);
    default:
      return unreachable(status);
  }
}

function withRow(world: World, key: string, row: Row): World {
  const before = world.rows[key];
  const rewritten = before !== undefined && (before.digest !== row.digest || before.status === 'discarded');
  const happened: Happening = rewritten ? { type: 'rewritten', rowBefore: before, row } : world.happened;
  return { ...world, rows: { ...world.rows, [key]: row }, happened };
}

function withEffects(world: World, at: number, changes: Partial<Effects>): World {
  return { ...world, effects: world.effects.map((effects, index) => (index === at ? { ...effects, ...changes } : effects)) };
}

export function effectsAt(world: World, at: number): Effects {
  const effects = world.effects[at];
  if (effects === undefined) throw new TypeError(`no namespace ${at}`);
  return effects;
}

function namespaceAt(at: number): Namespace {
  const namespace = NAMESPACES[at];
  if (namespace === undefined) throw new TypeError(`no namespace ${at}`);
  return namespace;
}

function including(ids: readonly string[], id: string): readonly string[] {
  return ids.includes(id) ? ids : [...ids, id].sort();
}

function without(ids: readonly string[], id: string): readonly string[] {
  return ids.filter((other) => other !== id);
}
