/**
 * The decrypted text of a turn metric, read (NIP-AM, kind 44200): what one turn has used, as its harness says. A counter
 * that is missing, null, negative or no number is not known; it is never 0.
 */
import { refuse } from '../../model/index.ts';
import type { Milliseconds, Refusal } from '../../model/index.ts';
import { momentOf } from './moment.ts';
import { membersOf, textOf } from './telemetry.ts';

export const METRIC_KIND = 44_200;

export const COUNTERS = ['inputTokens', 'outputTokens', 'totalTokens', 'costUsd', 'cacheReadTokens', 'cacheWriteTokens'] as const;
export type Counters = Readonly<Record<(typeof COUNTERS)[number], number | null>>;

export interface Metric {
  readonly harness: string;
  readonly model: string | null;
  readonly sessionId: string | null;
  readonly turnId: string | null;
  readonly turnSeq: number | null;
  readonly at: Milliseconds;
  /** What this turn used; null where it cannot be told (`deltaReliable: false` among it). */
  readonly turn: Counters | null;
  /** What the session has used so far. */
  readonly cumulative: Counters | null;
}

export function readMetric(plaintext: string): { readonly ok: true; readonly metric: Metric } | Refusal<'metric'> {
  const members = membersOf(parsed(plaintext));
  if (members === undefined) return refuse('metric', 'metric: expected a JSON object');
  const harness = textOf(members['harness']);
  const at = momentOf(textOf(members['timestamp']) ?? '');
  if (harness === undefined) return refuse('metric', 'harness: expected a text');
  if (at === undefined) return refuse('metric', 'timestamp: expected a date and time of RFC 3339');
  const { turnSeq, deltaReliable } = members;
  return {
    ok: true,
    metric: {
      harness, at,
      model: textOf(members['model']) ?? null,
      sessionId: textOf(members['sessionId']) ?? null,
      turnId: textOf(members['turnId']) ?? null,
      turnSeq: typeof turnSeq === 'number' && Number.isSafeInteger(turnSeq) && turnSeq >= 0 ? turnSeq : null,
      turn: deltaReliable === false ? null : countersIn(members['turn']),
      cumulative: countersIn(members['cumulative']),
    },
  };
}

function countersIn(value: unknown): Counters | null {
  const members = membersOf(value);
  if (members === undefined) return null;
  const of = (name: keyof Counters): number | null => {
    const count = members[name];
    return typeof count === 'number' && Number.isFinite(count) && count >= 0 ? count : null;
  };
  return {
    inputTokens: of('inputTokens'), outputTokens: of('outputTokens'), totalTokens: of('totalTokens'), costUsd: of('costUsd'),
    cacheReadTokens: of('cacheReadTokens'), cacheWriteTokens: of('cacheWriteTokens'),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
