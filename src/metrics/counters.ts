/**
 * The counters of NIP-AM "Numeric validity and token semantics": tokens are whole numbers from 0, costs finite ones. What
 * is not known is null, and null it stays: it is never taken for 0.
 */
export interface Counters {
  /** With those that were read from and written to the cache. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  /** As the agent reports it, never summed here. */
  readonly totalTokens: number | null;
  /** An estimate, the agent's own. */
  readonly costUsd: number | null;
  readonly cacheReadTokens: number | null;
  readonly cacheWriteTokens: number | null;
}

export type Counter = keyof Counters;

const COUNTERS: readonly Counter[] = [
  'inputTokens', 'outputTokens', 'totalTokens', 'costUsd', 'cacheReadTokens', 'cacheWriteTokens',
];

export const UNKNOWN: Counters = countersOf(() => null);
export const NOTHING: Counters = countersOf(() => 0);

export function countersOf(read: (counter: Counter) => number | null): Counters {
  return {
    inputTokens: read('inputTokens'),
    outputTokens: read('outputTokens'),
    totalTokens: read('totalTokens'),
    costUsd: read('costUsd'),
    cacheReadTokens: read('cacheReadTokens'),
    cacheWriteTokens: read('cacheWriteTokens'),
  };
}

/** Anything but a whole number from 0 that a double holds exactly is unknown. */
export function tokens(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

export function cost(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
}

export function sum(...parts: readonly (number | null)[]): number | null {
  return tokens(parts.reduce<number>((total, part) => total + (part ?? 0), 0));
}

export function isUnknown(counters: Counters): boolean {
  return COUNTERS.every((counter) => counters[counter] === null);
}

/**
 * A report of nothing but zeros says nothing: no model call takes no tokens. Agents write it where a turn was cancelled
 * and they do not know.
 */
export function saysSomething(counters: Counters): boolean {
  return COUNTERS.some((counter) => (counters[counter] ?? 0) > 0);
}
