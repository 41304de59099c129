/** A session's usage, turn by turn: what is a difference, what is unknown, and what never happens. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findAdapter, USAGE_BY_LOOKING } from '../../adapters/index.ts';
import { beginTurn, endTurn, hear, openMeter } from '../../src/metrics/index.ts';
import type { ObservedUsage, SessionMeter, UsageWord } from '../../src/metrics/index.ts';

/** One session, driven by hand. */
class Session {
  meter: SessionMeter;

  constructor(name: string, known = true) {
    this.meter = openMeter(findAdapter(name)?.dialect.usage ?? USAGE_BY_LOOKING, known);
  }

  hear(...words: readonly UsageWord[]): this {
    for (const word of words) this.meter = hear(this.meter, word);
    return this;
  }

  turn(...words: readonly UsageWord[]): ObservedUsage | undefined {
    this.meter = beginTurn(this.meter);
    this.hear(...words);
    const { meter, usage } = endTurn(this.meter);
    this.meter = meter;
    return usage;
  }
}

function goose(input: number, output: number, more: object = {}): UsageWord {
  const update = { sessionUpdate: 'usage_update', accumulatedInputTokens: input, accumulatedOutputTokens: output, ...more };
  return { type: 'notice', method: '_goose/unstable/session/update', params: { update } };
}

function costs(amount: number): UsageWord {
  return { type: 'update', update: { sessionUpdate: 'usage_update', used: 1, size: 2, cost: { amount, currency: 'USD' } } };
}

function answer(inputTokens: number, outputTokens: number): UsageWord {
  return { type: 'answer', result: { usage: { inputTokens, outputTokens } } };
}

describe('an agent that counts through its session', () => {
  it('has used in a turn what the counts have grown by, from nothing on', () => {
    const session = new Session('goose');
    expect(session.turn(goose(1_000, 200, { accumulatedCost: 0.1 }))).toMatchObject({
      turnSeq: 1, deltaReliable: true,
      turn: { inputTokens: 1_000, outputTokens: 200, costUsd: 0.1, totalTokens: null, cacheReadTokens: null },
      cumulative: { inputTokens: 1_000, outputTokens: 200, costUsd: 0.1, totalTokens: null },
    });
    expect(session.turn(goose(1_500, 300, { accumulatedCost: 0.3 }))).toMatchObject({
      turnSeq: 2, deltaReliable: true, turn: { inputTokens: 500, outputTokens: 100, costUsd: 0.2 }, cumulative: { inputTokens: 1_500, costUsd: 0.3 },
    });
  });

  it('may tell several times in a turn: the last word counts', () => {
    const session = new Session('goose');
    expect(session.turn(goose(10, 1), goose(20, 2), goose(30, 3))).toMatchObject({ turnSeq: 1, turn: { inputTokens: 30, outputTokens: 3 } });
    expect(session.turn(goose(40, 3), goose(50, 5))).toMatchObject({ turnSeq: 2, turn: { inputTokens: 20, outputTokens: 2 } });
  });

  it('has not used in a turn what it told between turns', () => {
    const session = new Session('goose').hear(goose(500, 100));
    expect(session.turn(goose(1_200, 300))).toMatchObject({ turn: { inputTokens: 700, outputTokens: 200 }, deltaReliable: true });
    session.hear(goose(1_250, 310));
    expect(session.turn(goose(1_300, 320))).toMatchObject({ turn: { inputTokens: 50, outputTokens: 10 } });
  });

  it('whose count falls has used nobody knows how much: null, no negative number', () => {
    const session = new Session('goose');
    session.turn(goose(1_000, 200, { accumulatedCost: 0.5 }));
    expect(session.turn(goose(900, 300, { accumulatedCost: 0.6 }))).toMatchObject({
      deltaReliable: false, turn: { inputTokens: null, outputTokens: 100, costUsd: 0.1 }, cumulative: { inputTokens: 900 },
    });
    expect(session.turn(goose(950, 310, { accumulatedCost: 0.1 }))).toMatchObject({
      deltaReliable: false, turn: { inputTokens: 50, costUsd: null },
    });
    expect(session.turn(goose(960, 310, { accumulatedCost: 0.2 }))).toMatchObject({ deltaReliable: true, turn: { inputTokens: 10, outputTokens: 0 } });
  });

  it('that said nothing in a turn leaves the next one without a base', () => {
    const session = new Session('goose');
    session.turn(goose(1_000, 200));
    expect(session.turn()).toBeUndefined();
    expect(session.turn(goose(3_000, 400))).toMatchObject({
      turnSeq: 2, deltaReliable: false, turn: { inputTokens: null, outputTokens: null }, cumulative: { inputTokens: 3_000 },
    });
    expect(session.turn(goose(3_001, 400))).toMatchObject({ turnSeq: 3, deltaReliable: true, turn: { inputTokens: 1 } });
  });

  it('whose session was not begun here has no base either', () => {
    expect(new Session('goose', false).turn(goose(1_000, 200))).toMatchObject({
      deltaReliable: false, turn: { inputTokens: null, outputTokens: null, costUsd: null }, cumulative: { inputTokens: 1_000 },
    });
  });

  it('a count that begins later is unknown for that turn, and spoils nothing else', () => {
    const session = new Session('goose');
    session.turn(goose(10, 1));
    expect(session.turn(goose(20, 2, { accumulatedTotalTokens: 99, accumulatedCachedInputTokens: 5 }))).toMatchObject({
      deltaReliable: true, turn: { inputTokens: 10, totalTokens: null, cacheReadTokens: null }, cumulative: { totalTokens: 99, cacheReadTokens: 5 },
    });
    expect(session.turn(goose(30, 3, { accumulatedTotalTokens: 100, accumulatedCachedInputTokens: 5 }))).toMatchObject({
      turn: { totalTokens: 1, cacheReadTokens: 0 },
    });
  });

  it('that counts nothing but zeros has told nothing', () => {
    const session = new Session('goose');
    expect(session.turn(goose(0, 0, { accumulatedCost: 0 }))).toBeUndefined();
    expect(session.turn(goose(7, 1))).toMatchObject({ turnSeq: 1, deltaReliable: true, turn: { inputTokens: 7 } });
  });
});

describe('an agent that tells of each turn', () => {
  it('needs no base, and where it counts nothing there is no cumulative', () => {
    const session = new Session('codex', false);
    for (const turnSeq of [1, 2]) {
      const usage = session.turn(answer(10, 2));
      expect(usage).toMatchObject({ turnSeq, deltaReliable: true, turn: { inputTokens: 10, outputTokens: 2, costUsd: null } });
      expect(usage).not.toHaveProperty('cumulative');
    }
  });

  it('has a cost beside it where it counts that', () => {
    const session = new Session('claude');
    expect(session.turn(costs(0), costs(0.25), answer(10, 2))).toMatchObject({
      turn: { inputTokens: 10, costUsd: 0.25 }, cumulative: { costUsd: 0.25, inputTokens: null, totalTokens: null }, deltaReliable: true,
    });
    // Cancelled: zeros, and no cost.
    expect(session.turn(answer(0, 0))).toBeUndefined();
    expect(session.turn(costs(0.75), answer(20, 4))).toMatchObject({
      turnSeq: 2, deltaReliable: true, turn: { inputTokens: 20, costUsd: null }, cumulative: { costUsd: 0.75 },
    });
  });

  it('may tell a cost alone: that of a turn that was cut short', () => {
    const usage = new Session('claude').turn(costs(0.25), answer(0, 0));
    expect(usage).toMatchObject({ turn: { inputTokens: null, outputTokens: null, costUsd: 0.25 }, cumulative: { costUsd: 0.25 } });
  });

  it('an answer outside of a turn is of none', () => {
    expect(new Session('codex').hear(answer(10, 2)).turn()).toBeUndefined();
  });
});

it('a turn within a turn is a bug', () => {
  const meter = beginTurn(openMeter(USAGE_BY_LOOKING));
  expect(() => beginTurn(meter)).toThrow('a turn is open');
  expect(endTurn(openMeter(USAGE_BY_LOOKING)).usage).toBeUndefined();
});

describe('whatever an agent says', () => {
  const count = fc.oneof(fc.nat(1_000), fc.constantFrom(-5, 1.5, null, 'x', Number.NaN));
  const report = fc.record({
    sessionUpdate: fc.constant('usage_update'), accumulatedInputTokens: count, accumulatedOutputTokens: count, accumulatedCost: count,
    accumulatedTotalTokens: count, cost: fc.record({ amount: count, currency: fc.constantFrom('USD', 'EUR') }),
  }, { requiredKeys: ['sessionUpdate'] });
  const usage = fc.record({ inputTokens: count, outputTokens: count, totalTokens: count, cachedReadTokens: count }, { requiredKeys: [] });
  const word: fc.Arbitrary<UsageWord> = fc.oneof(
    report.map((update): UsageWord => ({ type: 'notice', method: '_goose/unstable/session/update', params: { update } })),
    report.map((update): UsageWord => ({ type: 'update', update })),
    usage.map((told): UsageWord => ({ type: 'answer', result: { usage: told } })),
    fc.anything().map((result): UsageWord => ({ type: 'answer', result })),
  );
  const turns = fc.array(fc.record({ between: fc.array(word, { maxLength: 2 }), during: fc.array(word, { maxLength: 4 }) }), { maxLength: 8 });

  it('every counter is null or a number from 0, some counter is known, and the sequence has no gap', () => {
    fc.assert(fc.property(turns, fc.boolean(), (told, known) => {
      const session = new Session('anything', known);
      let seq = 0;
      for (const { between, during } of told) {
        const used = session.hear(...between).turn(...during);
        if (used === undefined) continue;
        seq += 1;
        expect(used.turnSeq).toBe(seq);
        const counters = [...Object.values(used.turn), ...Object.values(used.cumulative ?? {})];
        for (const value of counters) if (value !== null) expect(Number.isFinite(value) && value >= 0).toBe(true);
        expect(counters.some((value) => value !== null)).toBe(true);
      }
    }));
  });

  it('a counter that nobody reports is null for ever, never 0', () => {
    const withoutOutput = turns.map((told) => JSON.parse(JSON.stringify(told, (key: string, value: unknown) => (/output/i.test(key) ? undefined : value))) as typeof told);
    fc.assert(fc.property(withoutOutput, (told) => {
      const session = new Session('anything');
      for (const { between, during } of told) {
        const used = session.hear(...between).turn(...during);
        expect([null, undefined]).toContain(used?.turn.outputTokens);
        expect([null, undefined]).toContain(used?.cumulative?.outputTokens);
        expect([null, undefined]).toContain(used?.turn.cacheWriteTokens);
      }
    }));
  });

  it('rising counts: the turns of a session add up to its count', () => {
    fc.assert(fc.property(fc.array(fc.tuple(fc.nat(1_000), fc.nat(1_000)), { minLength: 1, maxLength: 10 }), (steps) => {
      const session = new Session('goose');
      const total = { input: 0, output: 0 };
      const sum = { input: 0, output: 0 };
      for (const [input, output] of steps) {
        total.input += input;
        total.output += output;
        const used = session.turn(goose(total.input, total.output));
        sum.input += used?.turn.inputTokens ?? 0;
        sum.output += used?.turn.outputTokens ?? 0;
        if (used !== undefined) expect(used.deltaReliable).toBe(true);
      }
      expect(sum).toEqual(total);
    }));
  });
});
