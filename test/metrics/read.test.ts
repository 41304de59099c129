/**
 * The shapes of usage as each agent program writes them, by hand from what was measured: a model server that said 111
 * tokens in, 22 out, 33 read from the cache, and 44 written to it where the provider counts that.
 */
import { describe, expect, it } from 'vitest';
import { adapterNames, findAdapter, USAGE_BY_LOOKING } from '../../adapters/index.ts';
import type { UsageShape } from '../../adapters/index.ts';
import { readSessionUsage, readTurnUsage } from '../../src/metrics/read.ts';
import type { Sighting } from '../../src/metrics/read.ts';

const NONE = { inputTokens: null, outputTokens: null, totalTokens: null, costUsd: null, cacheReadTokens: null, cacheWriteTokens: null };

function shapeOf(name: string): UsageShape {
  const profile = findAdapter(name);
  if (profile === undefined) throw new Error(`${name} is not in the catalogue`);
  return profile.dialect.usage;
}

function turn(name: string, result: unknown): Sighting | undefined {
  return readTurnUsage(result, shapeOf(name));
}

const CLAUDE = { inputTokens: 111, outputTokens: 22, cachedReadTokens: 33, cachedWriteTokens: 44, totalTokens: 210 };
const CODEX = { totalTokens: 133, inputTokens: 78, cachedReadTokens: 33, outputTokens: 22, thoughtTokens: 5 };
const OPENCODE = { inputTokens: 78, outputTokens: 22, totalTokens: 133, cachedReadTokens: 33 };
const QUOTA = { token_count: { input_tokens: 111, output_tokens: 22 } };
const GOOSE_METHOD = '_goose/unstable/session/update';

function goose(update: object): Parameters<typeof readSessionUsage>[0] {
  return { type: 'notice', method: GOOSE_METHOD, params: { sessionId: 's', update: { sessionUpdate: 'usage_update', ...update } } };
}

function costUpdate(cost: unknown): Parameters<typeof readSessionUsage>[0] {
  return { type: 'update', update: { sessionUpdate: 'usage_update', used: 133, size: 1_000_000, cost } };
}

describe('what each agent’s answer says of its turn', () => {
  it('claude: the cache is beside the input, and part of it again here', () => {
    expect(turn('claude', { stopReason: 'end_turn', usage: CLAUDE })?.counters).toEqual({
      ...NONE, inputTokens: 188, outputTokens: 22, totalTokens: 210, cacheReadTokens: 33, cacheWriteTokens: 44,
    });
  });

  it('codex: the cached tokens, which it took off, are put on again; what it thought is in the output', () => {
    expect(turn('codex', { usage: CODEX })?.counters).toEqual({
      ...NONE, inputTokens: 111, outputTokens: 22, totalTokens: 133, cacheReadTokens: 33,
    });
  });

  it('codex: null after a cancel or an error', () => {
    expect(turn('codex', { stopReason: 'cancelled', usage: null })).toBeUndefined();
  });

  it('opencode: as codex', () => {
    expect(turn('opencode', { usage: OPENCODE, _meta: {} })?.counters).toEqual({
      ...NONE, inputTokens: 111, outputTokens: 22, totalTokens: 133, cacheReadTokens: 33,
    });
  });

  it('gemini: in the quota, with the cache in the input, and no total', () => {
    expect(turn('gemini', { _meta: { quota: QUOTA } })?.counters).toEqual({ ...NONE, inputTokens: 111, outputTokens: 22 });
  });

  it.each(['claude', 'opencode'])('%s: the zeros of a cancelled turn say nothing', (name) => {
    const zeros = { inputTokens: 0, outputTokens: 0, totalTokens: 0, cachedReadTokens: 0, cachedWriteTokens: 0 };
    expect(turn(name, { stopReason: 'cancelled', usage: zeros })).toBeUndefined();
  });

  it.each(['pi', 'goose', 'buzz-agent'])('%s: nothing', (name) => {
    expect(turn(name, { usage: CLAUDE, _meta: { quota: QUOTA } })).toBeUndefined();
  });

  it('names the model where the quota knows one alone, for side requests have models of their own', () => {
    const usage = (...models: readonly unknown[]): object =>
      ({ _meta: { quota: { ...QUOTA, model_usage: models.map((model) => ({ model, token_count: {} })) } } });
    expect(turn('gemini', usage('gemini-3'))?.model).toBe('gemini-3');
    expect(turn('gemini', usage('gemini-3', 'gemini-3'))?.model).toBe('gemini-3');
    for (const models of [[], ['gemini-3', 'small'], [7], [''], ['x'.repeat(201)]]) {
      expect(turn('gemini', usage(...models))).toEqual({ counters: { ...NONE, inputTokens: 111, outputTokens: 22 } });
    }
  });

  it.each([-1, 1.5, Number.NaN, '7', null, undefined, 2 ** 53, {}])('a count of %j is not known', (count) => {
    expect(turn('claude', { usage: { ...CLAUDE, outputTokens: count } })?.counters.outputTokens).toBeNull();
    expect(turn('claude', { usage: { ...CLAUDE, inputTokens: count } })?.counters.inputTokens).toBeNull();
  });

  it.each([undefined, null, 7, [], 'x', {}, { usage: [] }, { usage: {} }, { _meta: null }, { _meta: { quota: 7 } }])('%j says nothing', (result) => {
    for (const name of adapterNames) expect(turn(name, result)).toBeUndefined();
  });
});

describe('the input of a program that nobody has measured', () => {
  const input = (usage: object): number | null | undefined => readTurnUsage({ usage }, USAGE_BY_LOOKING)?.counters.inputTokens;

  it.each([
    ['the cache beside it', CLAUDE, 188],
    ['the cache taken off', CODEX, 111],
    ['the cache in it', { inputTokens: 111, outputTokens: 22, totalTokens: 133, cachedReadTokens: 33 }, 111],
    ['nothing of the cache', { inputTokens: 111, outputTokens: 22 }, 111],
    ['a cache of 0', { inputTokens: 111, outputTokens: 22, cachedReadTokens: 0, cachedWriteTokens: 0 }, 111],
    ['no total to see it by', { inputTokens: 111, outputTokens: 22, cachedReadTokens: 33 }, null],
    ['a total that fits neither', { inputTokens: 111, outputTokens: 22, totalTokens: 500, cachedReadTokens: 33 }, null],
    ['no output to see it by', { inputTokens: 111, totalTokens: 144, cachedReadTokens: 33 }, null],
    ['no input', { outputTokens: 22, totalTokens: 22 }, null],
  ])('%s', (_, usage, expected) => {
    expect(input(usage)).toBe(expected);
  });

  it('looks into the quota where there is no usage', () => {
    expect(readTurnUsage({ usage: null, _meta: { quota: QUOTA } }, USAGE_BY_LOOKING)?.counters).toMatchObject({ inputTokens: 111, outputTokens: 22 });
  });
});

describe('what an agent counts through its session', () => {
  it.each(['goose', 'buzz-agent'])('%s: accumulated counts in a notification of its own', (name) => {
    const word = goose({ used: 12, contextLimit: 200, accumulatedInputTokens: 10_000, accumulatedOutputTokens: 2_345, accumulatedCost: 0.0234 });
    expect(readSessionUsage(word, shapeOf(name))).toEqual({
      counters: { ...NONE, inputTokens: 10_000, outputTokens: 2_345, costUsd: 0.0234 },
    });
    const more = goose({ accumulatedInputTokens: 7, accumulatedOutputTokens: 0, accumulatedTotalTokens: 9, accumulatedCachedInputTokens: 3, model: 'm' });
    expect(readSessionUsage(more, shapeOf(name))).toEqual({
      counters: { ...NONE, inputTokens: 7, outputTokens: 0, totalTokens: 9, cacheReadTokens: 3 }, model: 'm',
    });
  });

  it.each(['claude', 'opencode'])('%s: the cost of a usage_update, in dollars', (name) => {
    expect(readSessionUsage(costUpdate({ amount: 0.5, currency: 'USD' }), shapeOf(name))).toEqual({ counters: { ...NONE, costUsd: 0.5 } });
    expect(readSessionUsage(costUpdate({ amount: 0, currency: 'usd' }), shapeOf(name))).toEqual({ counters: { ...NONE, costUsd: 0 } });
  });

  it.each([
    [{ amount: 0.5, currency: 'EUR' }], [{ amount: 0.5, currency: 'credits' }], [{ amount: 0.5 }], [{ amount: -1, currency: 'USD' }],
    [{ amount: Infinity, currency: 'USD' }], [{ amount: '1', currency: 'USD' }], [null], [undefined],
  ])('a cost of %j is none', (cost) => {
    expect(readSessionUsage(costUpdate(cost), shapeOf('claude'))).toBeUndefined();
  });

  it.each(['codex', 'gemini', 'pi'])('%s: nothing; how full the context is, is no usage', (name) => {
    expect(readSessionUsage(costUpdate({ amount: 0.5, currency: 'USD' }), shapeOf(name))).toBeUndefined();
    expect(readSessionUsage(goose({ accumulatedInputTokens: 1 }), shapeOf(name))).toBeUndefined();
  });

  it('takes nothing from another method, another update, or a notification without a count', () => {
    const shape = shapeOf('goose');
    const params = { update: { sessionUpdate: 'usage_update', accumulatedInputTokens: 1 } };
    expect(readSessionUsage({ type: 'notice', method: GOOSE_METHOD, params }, shape)).toBeDefined();
    expect(readSessionUsage({ type: 'notice', method: '_other/session/update', params }, shape)).toBeUndefined();
    expect(readSessionUsage({ type: 'update', update: params.update }, shape)).toBeUndefined();
    expect(readSessionUsage(goose({ sessionUpdate: 'status_message', accumulatedInputTokens: 1 }), shape)).toBeUndefined();
    expect(readSessionUsage(goose({ used: 5 }), shape)).toBeUndefined();
    expect(readSessionUsage({ type: 'notice', method: GOOSE_METHOD, params: null }, shape)).toBeUndefined();
  });
});
