/**
 * Sums of turn metrics, by agent, model and day. A turn whose counter is not known is counted as such beside the sum and
 * adds nothing to it: a sum is always of the turns that are known, and says of how many. `totalTokens` is summed as
 * reported, never made of the others.
 */
import type { Pubkey } from '../../model/index.ts';
import type { Counters, Metric } from './metric.ts';

export const GROUPS = ['agent', 'model', 'day'] as const;
export type Group = (typeof GROUPS)[number];

/** `sum` is null where no turn of the row is known: that is not 0. */
export interface Sum {
  readonly sum: number | null;
  readonly known: number;
  readonly unknown: number;
}

/** Absent members were not asked for. `day` is the count of UTC days since 1970. */
export interface UsageRow {
  readonly agent?: Pubkey;
  readonly model?: string | null;
  readonly day?: number;
  readonly turns: number;
  readonly counters: Readonly<Record<keyof Counters, Sum>>;
}

export interface OfAgent {
  readonly agent: Pubkey;
  readonly metric: Metric;
}

const DAY_MS = 86_400_000;

/** In the order of day, agent, model. The same turn told twice (by session, turnSeq and turn) counts once. */
export function sumUsage(metrics: readonly OfAgent[], by: readonly Group[]): readonly UsageRow[] {
  const turns = withoutTwins(metrics);
  const rows = new Map<string, { readonly head: Omit<UsageRow, 'turns' | 'counters'>; readonly used: Counters[] }>();
  for (const [index, one] of turns.entries()) {
    const head = headOf(one, by);
    const key = JSON.stringify([head.day ?? null, head.agent ?? null, head.model ?? null]);
    const row = rows.get(key) ?? { head, used: [] };
    row.used.push(usedBy(one, countBefore(turns, index)));
    rows.set(key, row);
  }
  return [...rows.values()].sort((a, b) => compareHeads(a.head, b.head))
    .map(({ head, used }) => ({ ...head, turns: used.length, counters: sums(used) }));
}

function headOf({ agent, metric }: OfAgent, by: readonly Group[]): Omit<UsageRow, 'turns' | 'counters'> {
  return {
    ...(by.includes('agent') ? { agent } : {}),
    ...(by.includes('model') ? { model: metric.model } : {}),
    ...(by.includes('day') ? { day: Math.floor(metric.at / DAY_MS) } : {}),
  };
}

/**
 * The turn before, where it is known which that is: an agent may call two conversations by one name (it counts them, and
 * was started anew), and then two turns have one number.
 */
function countBefore(turns: readonly OfAgent[], index: number): OfAgent | undefined {
  const [beforeLast, before, one, next] = [-2, -1, 0, 1].map((step) => turns[index + step]);
  return haveOneNumber(beforeLast, before) || haveOneNumber(one, next) ? undefined : before;
}

function haveOneNumber(a: OfAgent | undefined, b: OfAgent | undefined): boolean {
  return a !== undefined && b !== undefined && a.agent === b.agent && a.metric.sessionId === b.metric.sessionId && a.metric.turnSeq === b.metric.turnSeq;
}

/** What the turn says; else what the session's count has risen by since the turn before, where that was told, too. */
function usedBy({ agent, metric }: OfAgent, before: OfAgent | undefined): Counters {
  const follows = before !== undefined && before.agent === agent && metric.sessionId !== null && before.metric.sessionId === metric.sessionId
    && metric.turnSeq !== null && before.metric.turnSeq === metric.turnSeq - 1;
  const used = (name: keyof Counters): number | null => {
    const told = metric.turn?.[name] ?? null;
    const [now, then] = [metric.cumulative?.[name] ?? null, follows ? (before.metric.cumulative?.[name] ?? null) : null];
    if (told !== null || now === null || then === null) return told;
    // A count that fell began anew: what was used is not known.
    return now >= then ? now - then : null;
  };
  return {
    inputTokens: used('inputTokens'), outputTokens: used('outputTokens'), totalTokens: used('totalTokens'), costUsd: used('costUsd'),
    cacheReadTokens: used('cacheReadTokens'), cacheWriteTokens: used('cacheWriteTokens'),
  };
}

/** By agent, session and turnSeq, so that each stands behind the one before it; those without at the end. */
function withoutTwins(metrics: readonly OfAgent[]): readonly OfAgent[] {
  const unnumbered: OfAgent[] = [];
  const numbered = new Map<string, OfAgent>();
  for (const one of metrics) {
    const { sessionId, turnId, turnSeq, at } = one.metric;
    if (sessionId === null || turnSeq === null) {
      unnumbered.push(one);
      continue;
    }
    const key = JSON.stringify([one.agent, sessionId, turnSeq, turnId]);
    const known = numbered.get(key);
    if (known === undefined || at < known.metric.at) numbered.set(key, one);
  }
  const sorted = [...numbered.values()].sort((a, b) => compare(a.agent, b.agent)
    || compare(a.metric.sessionId ?? '', b.metric.sessionId ?? '') || (a.metric.turnSeq ?? 0) - (b.metric.turnSeq ?? 0));
  return [...sorted, ...unnumbered];
}

function sums(used: readonly Counters[]): UsageRow['counters'] {
  const sumOf = (name: keyof Counters): Sum => {
    const known = used.map((one) => one[name]).filter((count) => count !== null);
    return { sum: known.length === 0 ? null : known.reduce((sum, count) => sum + count, 0), known: known.length, unknown: used.length - known.length };
  };
  return {
    inputTokens: sumOf('inputTokens'), outputTokens: sumOf('outputTokens'), totalTokens: sumOf('totalTokens'), costUsd: sumOf('costUsd'),
    cacheReadTokens: sumOf('cacheReadTokens'), cacheWriteTokens: sumOf('cacheWriteTokens'),
  };
}

function compareHeads(a: Omit<UsageRow, 'turns' | 'counters'>, b: Omit<UsageRow, 'turns' | 'counters'>): number {
  return (a.day ?? 0) - (b.day ?? 0) || compare(a.agent ?? '', b.agent ?? '') || compare(a.model ?? '', b.model ?? '');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
