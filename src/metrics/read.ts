/**
 * What an agent's words say of usage, by the shape that its profile names. Lenient: a member of another type is a counter
 * that is not known.
 * in: the answer to a prompt, an update, an extension's notification, each as it came. out: counters, or nothing.
 */
import type { SessionUsage, TurnUsage, UsageShape } from '../../adapters/index.ts';
import { cost, isUnknown, saysSomething, sum, tokens, UNKNOWN } from './counters.ts';
import type { Counters } from './counters.ts';

type Members = Readonly<Record<string, unknown>>;

/** `model` where the report itself names one, and one only. */
export interface Sighting {
  readonly counters: Counters;
  readonly model?: string;
}

/** What an agent said, told apart by where it stood. */
export type UsageWord =
  | { readonly type: 'answer'; readonly result: unknown }
  /** The `update` of a `session/update`. */
  | { readonly type: 'update'; readonly update: unknown }
  /** A notification that ACP does not know. */
  | { readonly type: 'notice'; readonly method: string; readonly params: unknown };

const GOOSE_METHOD = '_goose/unstable/session/update';
const MAX_MODEL_CHARACTERS = 200;

/** The usage of the turn that this answer ends. */
export function readTurnUsage(result: unknown, { turn, input }: UsageShape): Sighting | undefined {
  for (const source of turn) {
    const found = ofTurn(source, members(result));
    if (found === undefined || !saysSomething(found.counters)) continue;
    return { ...found, counters: withCache(found.counters, input) };
  }
  return undefined;
}

/** The counts of the session so far. */
export function readSessionUsage(word: UsageWord, { session }: UsageShape): Sighting | undefined {
  for (const source of session) {
    const found = ofSession(source, word);
    if (found !== undefined) return found;
  }
  return undefined;
}

function ofTurn(source: TurnUsage, result: Members): Sighting | undefined {
  switch (source) {
    case 'usage':
      return isMembers(result['usage']) ? { counters: acpUsage(result['usage']), ...modelOf(quotaOf(result)) } : undefined;
    case 'quota': {
      const count = quotaOf(result)['token_count'];
      if (!isMembers(count)) return undefined;
      const counters = { ...UNKNOWN, inputTokens: tokens(count['input_tokens']), outputTokens: tokens(count['output_tokens']) };
      return { counters, ...modelOf(quotaOf(result)) };
    }
  }
}

function acpUsage(usage: Members): Counters {
  return {
    ...UNKNOWN,
    inputTokens: tokens(usage['inputTokens']),
    outputTokens: tokens(usage['outputTokens']),
    totalTokens: tokens(usage['totalTokens']),
    cacheReadTokens: tokens(usage['cachedReadTokens']),
    cacheWriteTokens: tokens(usage['cachedWriteTokens']),
  };
}

/** NIP-AM: the input with what came from the cache and what went into it. */
function withCache(counters: Counters, input: UsageShape['input']): Counters {
  switch (input) {
    case 'with-cache':
      return counters;
    case 'without-cache':
      return { ...counters, inputTokens: inclusive(counters) };
    case 'by-total':
      return { ...counters, inputTokens: byTotal(counters) };
  }
}

function inclusive({ inputTokens, cacheReadTokens, cacheWriteTokens }: Counters): number | null {
  return inputTokens === null ? null : sum(inputTokens, cacheReadTokens, cacheWriteTokens);
}

/** The total is that of all tokens: with which input does it come out? */
function byTotal(counters: Counters): number | null {
  const { inputTokens, outputTokens, totalTokens } = counters;
  const all = inclusive(counters);
  // Nothing of the cache: either count is the same.
  if (all === inputTokens) return inputTokens;
  if (totalTokens === null || outputTokens === null) return null;
  return [inputTokens, all].find((input) => sum(input, outputTokens) === totalTokens) ?? null;
}

function ofSession(source: SessionUsage, word: UsageWord): Sighting | undefined {
  switch (source) {
    case 'cost': {
      if (word.type !== 'update') return undefined;
      const { sessionUpdate, cost: told } = members(word.update);
      const { amount, currency } = members(told);
      // ACP lets an agent count in any currency, or in credits.
      const isUsd = typeof currency === 'string' && currency.toUpperCase() === 'USD';
      const costUsd = sessionUpdate === 'usage_update' && isUsd ? cost(amount) : null;
      return costUsd === null ? undefined : { counters: { ...UNKNOWN, costUsd } };
    }
    case 'goose':
      return word.type === 'notice' && word.method === GOOSE_METHOD ? gooseUsage(members(members(word.params)['update'])) : undefined;
  }
}

/** goose, and Buzz's own agent: the input has the cached ones among it. */
function gooseUsage(update: Members): Sighting | undefined {
  if (update['sessionUpdate'] !== 'usage_update') return undefined;
  const counters: Counters = {
    inputTokens: tokens(update['accumulatedInputTokens']),
    outputTokens: tokens(update['accumulatedOutputTokens']),
    totalTokens: tokens(update['accumulatedTotalTokens']),
    costUsd: cost(update['accumulatedCost']),
    cacheReadTokens: tokens(update['accumulatedCachedInputTokens']),
    cacheWriteTokens: null,
  };
  return isUnknown(counters) ? undefined : { counters, ...named(update['model']) };
}

function quotaOf(result: Members): Members {
  return members(members(result['_meta'])['quota']);
}

/** Side requests (titles, summaries) may be made of other models: then none is the turn's. */
function modelOf(quota: Members): Pick<Sighting, 'model'> {
  const { model_usage: usage } = quota;
  if (!Array.isArray(usage)) return {};
  const models = new Set(usage.map((one: unknown) => members(one)['model']));
  return models.size === 1 ? named([...models][0]) : {};
}

function named(model: unknown): Pick<Sighting, 'model'> {
  return typeof model === 'string' && model !== '' && model.length <= MAX_MODEL_CHARACTERS ? { model: model.toWellFormed() } : {};
}

function members(value: unknown): Members {
  return isMembers(value) ? value : {};
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
