/**
 * Where an agent program tells what its turns have used, as data: which of the known shapes it has, and what its count
 * of input tokens leaves out. How a shape is read is the matter of src/metrics.
 */
export interface UsageShape {
  /** Shapes that tell the tokens of one turn; the first that tells anything is taken. */
  readonly turn: readonly TurnUsage[];
  /** Shapes that count through a session. What a turn has used is then the difference of two counts. */
  readonly session: readonly SessionUsage[];
  readonly input: InputCount;
}

/**
 * `usage`: in the answer to the prompt, as ACP's draft has it: inputTokens, outputTokens, totalTokens,
 * cachedReadTokens, cachedWriteTokens. `quota`: there too, `_meta.quota.token_count` with input_tokens, output_tokens.
 */
export type TurnUsage = 'usage' | 'quota';

/**
 * `cost`: the `cost` of an ACP `usage_update`. Its `used` and `size` say how full the context is, not what was used.
 * `goose`: the notification `_goose/unstable/session/update`, with accumulated counts.
 */
export type SessionUsage = 'cost' | 'goose';

/**
 * Whether the reported input tokens have those of the cache among them. `by-total`: nobody knows beforehand; the
 * reported total shows it, and where it does not the input is unknown.
 */
export type InputCount = 'with-cache' | 'without-cache' | 'by-total';

/** Of a program that nobody has measured: whatever is there. */
export const USAGE_BY_LOOKING: UsageShape = { turn: ['usage', 'quota'], session: ['goose', 'cost'], input: 'by-total' };
