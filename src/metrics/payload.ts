/**
 * A turn metric as text: the decrypted payload of a kind 44200 event (NIP-AM "Decrypted Payload"). Numbers and ids alone;
 * the manifest says which context went in, never what it said.
 */
import type { Manifest } from '../../compiler/index.ts';
import { isUnknown } from './counters.ts';
import type { Counters } from './counters.ts';
import type { ObservedUsage } from './meter.ts';

/** NIP-AM knows no other. */
export type MetricStopReason = 'end_turn' | 'max_tokens' | 'cancelled' | 'error' | 'unknown';

export interface TurnMetric {
  /** The end of the turn, RFC 3339. */
  readonly timestamp: string;
  /** Null: in no channel. */
  readonly channelId: string | null;
  /** The agent's own name of the conversation, the same as in its observer frames. */
  readonly sessionId: string;
  readonly turnId: string;
  readonly usage: ObservedUsage;
  readonly stopReason: MetricStopReason;
  /** As compiled, with every steer that the agent took. */
  readonly manifest: Manifest;
}

const HARNESS = 'skep';

export function metricText({ timestamp, channelId, sessionId, turnId, usage, stopReason, manifest }: TurnMetric): string {
  const { model, turnSeq, turn, cumulative, deltaReliable } = usage;
  return JSON.stringify({
    harness: HARNESS,
    model: model ?? null,
    channelId,
    sessionId,
    turnId,
    turnSeq,
    timestamp,
    turn: isUnknown(turn) ? null : written(turn),
    cumulative: cumulative === undefined ? null : written(cumulative),
    deltaReliable,
    stopReason,
    contextManifest: manifest,
  });
}

/** The cache's share is optional; the others are written as null where they are not known. */
function written({ inputTokens, outputTokens, totalTokens, costUsd, cacheReadTokens, cacheWriteTokens }: Counters): object {
  return {
    inputTokens,
    outputTokens,
    totalTokens,
    costUsd,
    ...(cacheReadTokens === null ? {} : { cacheReadTokens }),
    ...(cacheWriteTokens === null ? {} : { cacheWriteTokens }),
  };
}
