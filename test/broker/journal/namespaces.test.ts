/**
 * Every state the production reducer can reach in the world of `namespaces.ts`: three namespaces, two digests, and what
 * goes wrong around them; and faults planted into reducer and driver, each of which must be found by the invariant that
 * it breaks.
 */
import { describe, expect, it } from 'vitest';
import { encounter } from '../../../src/broker/journal/flight.ts';
import { step } from '../../../src/broker/journal/machine.ts';
import type { RecordInput, RecordState } from '../../../src/broker/journal/machine.ts';
import { failed } from '../../../src/broker/journal/verdict.ts';
import type { Verdict } from '../../../src/broker/journal/verdict.ts';
import { evidence } from './events.ts';
import { FAULTS } from './faults.ts';
import { brokenIn, INVARIANTS } from './invariants.ts';
import type { Owns } from './invariants.ts';
import { moves, NAMESPACES, newWorld } from './namespaces.ts';
import type { Bounds, Effects, Flight, Outcomes, Play, Row, Rules, World } from './namespaces.ts';

const RULES: Rules = {
  step,
  meet: encounter,
  keyOf: ({ community, principal }) => `${community} ${principal}`,
  joinedBy: (digest) => digest,
};

/** Three namespaces at once; two through a crash or a take-over; and one, with everything that can go wrong. */
const THREE: Bounds = { namespaces: 3, digests: ['d1', 'd2'], asks: 3, crashes: 0, passing: false, harsh: false };
const TWO: Bounds = { namespaces: 2, digests: ['d1', 'd2'], asks: 2, crashes: 1, passing: false, harsh: false };
const ONE: Bounds = { namespaces: 1, digests: ['d1', 'd2'], asks: 2, crashes: 1, passing: true, harsh: true };

const NO = failed('action_failed', 'no');
/** The nth event that a namespace's action would sign. */
const EVENTS = NAMESPACES.map((_, by) => [0, 1, 2, 3].map((nth) => evidence(`of ${by}, ${nth}`)));
const NAMES = new Map(EVENTS.flatMap((events, by) => events.map(({ event }, nth) => [String(event.id), { by, nth }] as const)));

const publishes: Outcomes = (by, nth) => {
  const planned = EVENTS[by]?.[nth];
  const ended: RecordInput = { type: 'decided', verdict: NO };
  return planned === undefined ? [ended] : [ended, { type: 'planned', evidence: planned }];
};
const reads: Outcomes = (by) => [
  { type: 'decided', verdict: NO },
  { type: 'decided', verdict: { status: 'succeeded', action: 'storage.get', outcome: { value: secretOf(by) } } },
];

function secretOf(by: number): string {
  return `only for ${by}`;
}

const owns: Owns = (by, verdict) => {
  if (verdict.status !== 'succeeded') return true;
  const { outcome } = verdict;
  return 'eventId' in outcome ? NAMES.get(outcome.eventId)?.by === by : 'value' in outcome && outcome.value === secretOf(by);
};

describe('what three namespaces can come to', () => {
  it.each([
    ['three namespaces that publish', THREE, publishes],
    ['three namespaces that read', THREE, reads],
    ['two namespaces, and a run that dies or is taken over', TWO, publishes],
    ['one namespace, with everything that can go wrong', ONE, publishes],
    ['one namespace that reads, with everything that can go wrong', ONE, reads],
  ])('%s: no invariant is broken', { timeout: 300_000 }, (name, bounds, outcomes) => {
    const { broken, states, transitions, reached } = explore({ rules: RULES, bounds, outcomes });
    process.stdout.write(`${name}: ${states} states, ${transitions} transitions\n`);
    expect(broken).toBeUndefined();
    expect(states).toBeGreaterThan(1_000);
    for (const status of REACHED) expect(reached, `${status} of the reducer is reached`).toContain(status);
  });
});

const REACHED: readonly RecordState['status'][] = ['claiming', 'claimed', 'finishing'];

/** Faults of the driver, by the invariant that finds them. */
const DRIVER_FAULTS: Readonly<Record<string, readonly [invariant: string, faulty: Partial<Rules>]>> = {
  'finds a record without its community': ['nothing is released to another namespace', { keyOf: ({ principal }) => principal }],
  'finds a record without its principal': ['nothing is released to another namespace', { keyOf: ({ community }) => community }],
  'joins a flight without its digest': ['a conflict changes nothing', { joinedBy: () => '' }],
  'lets other bytes have the result': ['a conflict changes nothing', { meet: ({ state }) => ({ type: 'taken', record: state }) }],
  'calls a retry of the same bytes a conflict': [
    'a conflict changes nothing', { meet: () => ({ type: 'refused', verdict: failed('request_id_conflict', 'planted') }) },
  ],
  'executes what is only a tombstone': [
    'one executor for a key',
    {
      step: (state, input, now) =>
        input.type === 'taken' && input.record.status === 'discarded'
          ? { state: { status: 'claimed' }, commands: [{ type: 'execute' }] }
          : step(state, input, now),
    },
  ],
  'makes up a success for a tombstone': [
    'a tombstone stays and tells nothing',
    {
      step: (state, input, now) =>
        input.type === 'taken' && input.record.status === 'discarded'
          ? { state: input.record, commands: [{ type: 'deliver', verdict: NO, replayed: true }] }
          : step(state, input, now),
    },
  ],
};

describe('a planted fault is found', () => {
  it.each(Object.keys(FAULTS))('in the reducer: %s', { timeout: 300_000 }, (name) => {
    const faulty = FAULTS[name] ?? step;
    // Of a claim that carries its event, the other walk says what there is to say.
    if (name.includes('own message')) return;
    expect(Object.keys(INVARIANTS)).toContain(firstBroken({ ...RULES, step: faulty }));
  });

  it.each(Object.entries(DRIVER_FAULTS))('in the driver: %s', { timeout: 300_000 }, (_, [invariant, faulty]) => {
    expect(firstBroken({ ...RULES, ...faulty })).toBe(invariant);
  });
});

function firstBroken(rules: Rules): string | undefined {
  const small: Bounds = { ...TWO, namespaces: 3, crashes: 0 };
  for (const bounds of [small, ONE]) {
    for (const outcomes of [publishes, reads]) {
      const { broken } = explore({ rules, bounds, outcomes });
      if (broken !== undefined) return broken;
    }
  }
  return undefined;
}

interface Explored {
  readonly states: number;
  readonly transitions: number;
  readonly reached: ReadonlySet<RecordState['status']>;
  readonly broken?: string;
}

/** By breadth, so that what breaks first breaks in the fewest moves. */
function explore(play: Play): Explored {
  const seen = new Set<string>();
  const reached = new Set<RecordState['status']>();
  let edge: readonly World[] = [newWorld()];
  let transitions = 0;
  while (edge.length > 0) {
    const beyond: World[] = [];
    for (const world of edge) {
      for (const next of moves(world, play)) {
        transitions += 1;
        const broken = brokenIn(next, owns);
        if (broken !== undefined) return { states: seen.size, transitions, reached, broken };
        const name = nameOf(next, play.rules);
        if (seen.has(name)) continue;
        seen.add(name);
        for (const { state } of next.flights) reached.add(state.status);
        beyond.push(next);
      }
    }
    edge = beyond;
  }
  return { states: seen.size, transitions, reached };
}

/** Namespaces that do the same are the same, whichever does it; unless a fault mixes them up. */
function nameOf(world: World, { keyOf }: Rules): string {
  const places = NAMESPACES.map((namespace, by) => {
    const key = keyOf(namespace);
    const row = world.rows[key];
    const flights = world.flights.filter((flight) => flight.key === key && flight.by === by);
    const parts = [row === undefined ? '-' : rowName(row, world), ...flights.map((flight) => flightName(flight, world)).sort()];
    return withFirstDigestFirst(`${parts.join('&')}|${effectsName(world.effects[by])}`);
  });
  if (keyOf === RULES.keyOf) places.sort();
  return `${places.join('#')} ${world.old ? 'o' : ''}${world.permitted ? 'p' : ''}${world.crashes}${world.asks}`;
}

/** Which of the two bodies came first makes no difference to what follows. */
function withFirstDigestFirst(name: string): string {
  const [one, other] = [name.indexOf('d1'), name.indexOf('d2')];
  if (other < 0 || (one >= 0 && one < other)) return name;
  return name.replaceAll(/d[12]/g, (digest) => (digest === 'd1' ? 'd2' : 'd1'));
}

function rowName({ status, digest, run, evidence: signed, verdict }: Row, world: World): string {
  return `${status}${digest}${world.run - run}${eventName(signed?.event.id)}${verdict === undefined ? '' : verdictName(verdict)}`;
}

function flightName({ state, waiting, digest, run, executes, waiters }: Flight, world: World): string {
  const carried = 'evidence' in state ? eventName(state.evidence.event.id) : '';
  const turn = state.status === 'publishing' ? state.doubt : state.status === 'looking' && state.lost;
  const verdict = state.status === 'finishing' ? verdictName(state.verdict) : '';
  return `${state.status}${waiting.type}${carried}${turn ? '!' : ''}${verdict}${digest}${world.run - run}${executes ? 'x' : ''}${waiters.map((one) => one.digest).join('')}`;
}

function effectsName(effects: Effects | undefined): string {
  if (effects === undefined) return '';
  const { executions, sent, kept, air, refused, toldFailed } = effects;
  const ids = [sent, kept, air].map((list) => list.map(eventName).join(''));
  return `${executions}${ids.join('/')}${refused ? 'r' : ''}${toldFailed ? 'f' : ''}`;
}

function eventName(id: string | undefined): string {
  return id === undefined ? '' : `e${NAMES.get(id)?.nth ?? '?'}`;
}

function verdictName(verdict: Verdict): string {
  return verdict.status === 'succeeded' ? 's' : verdict.error.code;
}
