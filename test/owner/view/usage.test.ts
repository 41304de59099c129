/** Sums of turn metrics: null is never zero, a turn counts once, and what is derived says from what. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GROUPS, readMetric, sumUsage } from '../../../src/owner/view/index.ts';
import type { OfAgent, UsageRow } from '../../../src/owner/view/index.ts';
import { bob, carol } from '../../relay/harness.ts';

interface Words {
  readonly [member: string]: unknown;
}

function metric(words: Words = {}, agent = bob.pubkey): OfAgent {
  const read = readMetric(JSON.stringify({ harness: 'skep', timestamp: '2026-04-29T12:00:41.500Z', model: 'm', sessionId: 's', turnSeq: null, turn: null, cumulative: null, ...words }));
  if (!read.ok) throw new Error(read.detail);
  return { agent, metric: read.metric };
}

const input = (rows: readonly UsageRow[]): unknown => rows.map(({ turns, counters }) => [turns, counters.inputTokens]);

describe('a counter', () => {
  it('that is not known adds nothing and is counted as not known', () => {
    const unknown = [null, undefined, -1, 'many', Number.NaN, {}].map((inputTokens) => metric({ turn: { inputTokens } }));
    expect(input(sumUsage(unknown, []))).toEqual([[6, { sum: null, known: 0, unknown: 6 }]]);
    expect(input(sumUsage([...unknown, metric({ turn: { inputTokens: 7 } }), metric({ turn: { inputTokens: 0 } }), metric()], []))).toEqual([[9, { sum: 7, known: 2, unknown: 7 }]]);
  });

  it('of a turn whose difference cannot be told is not known', () => {
    expect(input(sumUsage([metric({ turn: { inputTokens: 5 }, deltaReliable: false })], []))).toEqual([[1, { sum: null, known: 0, unknown: 1 }]]);
  });

  it('that the turn does not tell is what the session rose by since the turn before, in whatever order they come', () => {
    const session = [10, 25, 20, 40].map((inputTokens, index) => metric({ turnSeq: index + 1, cumulative: { inputTokens } }));
    // Of the first nothing is known: the session may have begun before. From the second to the third it fell.
    fc.assert(fc.property(fc.shuffledSubarray(session, { minLength: 4 }), (order) => {
      expect(input(sumUsage(order, []))).toEqual([[4, { sum: 35, known: 2, unknown: 2 }]]);
    }));
    const gap = [metric({ turnSeq: 1, cumulative: { inputTokens: 10 } }), metric({ turnSeq: 3, cumulative: { inputTokens: 30 } })];
    expect(input(sumUsage(gap, []))).toEqual([[2, { sum: null, known: 0, unknown: 2 }]]);
  });

  it('total is as reported, never made of the others', () => {
    const [row] = sumUsage([metric({ turn: { inputTokens: 1, outputTokens: 2 } })], []);
    expect(row?.counters.totalTokens).toEqual({ sum: null, known: 0, unknown: 1 });
  });
});

it('the same turn told twice counts once; turns without a number count each', () => {
  const twice = metric({ turnSeq: 4, turn: { inputTokens: 5 } });
  expect(input(sumUsage([twice, { ...twice }, metric({ turn: { inputTokens: 1 } }), metric({ turn: { inputTokens: 1 } })], []))).toEqual([[3, { sum: 7, known: 3, unknown: 0 }]]);
});

it('two conversations that an agent calls by one name lose no turn, and nothing is made of both', () => {
  const told = (turnId: string, turnSeq: number, inputTokens: number): OfAgent => metric({ turnId, turnSeq, turn: { inputTokens } });
  expect(input(sumUsage([told('a', 1, 5), told('b', 1, 7), told('a', 1, 5)], []))).toEqual([[2, { sum: 12, known: 2, unknown: 0 }]]);
  const counted = (turnId: string, turnSeq: number, inputTokens: number): OfAgent => metric({ turnId, turnSeq, cumulative: { inputTokens } });
  expect(input(sumUsage([counted('a', 1, 10), counted('b', 1, 20), counted('c', 2, 30)], []))).toEqual([[3, { sum: null, known: 0, unknown: 3 }]]);
  expect(input(sumUsage([counted('a', 1, 10), counted('c', 2, 30), counted('d', 2, 35)], []))).toEqual([[3, { sum: null, known: 0, unknown: 3 }]]);
  expect(input(sumUsage([counted('a', 1, 10), counted('c', 2, 30)], []))).toEqual([[2, { sum: 20, known: 1, unknown: 1 }]]);
});

it('rows are by day, agent and model, an unknown model among them', () => {
  const rows = sumUsage([
    metric({ model: null }), metric({ model: 'b' }), metric({ model: 'b' }), metric({ timestamp: '2026-04-28T23:59:59Z' }), metric({}, carol.pubkey),
  ], GROUPS);
  const day = Date.UTC(2026, 3, 29) / 86_400_000;
  const expected = [
    { day: day - 1, agent: bob.pubkey, model: 'm', turns: 1 },
    { day, agent: bob.pubkey, model: null, turns: 1 }, { day, agent: bob.pubkey, model: 'b', turns: 2 },
    { day, agent: carol.pubkey, model: 'm', turns: 1 },
  ].sort((a, b) => a.day - b.day || (a.agent < b.agent ? -1 : Number(a.agent > b.agent)));
  expect(rows.map(({ day: at, agent, model, turns }) => ({ day: at, agent, model, turns }))).toEqual(expected);
  expect(sumUsage(rows.length > 0 ? [metric(), metric({}, carol.pubkey)] : [], ['model'])).toMatchObject([{ model: 'm', turns: 2 }]);
});

it.each([
  ['no JSON', 'metric: expected a JSON object'], ['[]', 'metric: expected a JSON object'], ['{}', 'harness: expected a text'],
  ['{"harness":"x","timestamp":"yesterday"}', 'timestamp: expected a date and time of RFC 3339'],
])('%s is no metric', (text, detail) => {
  expect(readMetric(text)).toMatchObject({ ok: false, detail });
});
