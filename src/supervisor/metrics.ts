/**
 * The metric of a turn that has ended (NIP-AM): one for each turn of which usage was told, however it ended; none where
 * nothing was told. The turn's end does not wait for it.
 */
import type { Manifest } from '../../compiler/index.ts';
import type { PromptOutcome, StopReason } from '../acp/index.ts';
import { metricText } from '../metrics/index.ts';
import type { MetricStopReason } from '../metrics/index.ts';
import { unreachable } from '../model/index.ts';
import type { AgentOptions } from './agent-options.ts';
import type { Batch } from './inbox/entry.ts';

export interface EndedTurn {
  readonly options: Pick<AgentOptions, 'link' | 'clock'>;
  /** Without a channel: no message asked for it. */
  readonly batch: Pick<Batch, 'turnId'> & Partial<Pick<Batch, 'channelId'>>;
  readonly sessionId: string;
  readonly outcome: PromptOutcome;
  /** Of everything the agent was given in this turn. */
  readonly manifest: Manifest;
}

export function tellMetric({ options: { link, clock }, batch, sessionId, outcome, manifest }: EndedTurn): void {
  const { usage } = outcome.seen;
  if (usage === undefined) return;
  const at = clock.now();
  const { turnId, channelId } = batch;
  const timestamp = new Date(at).toISOString();
  link.metric({ at, plaintext: metricText({ timestamp, channelId: channelId ?? null, sessionId, turnId, usage, stopReason: stopReasonOf(outcome), manifest }) });
}

/** What ended at our word because something went wrong is an error; what NIP-AM has no word for is unknown. */
export function stopReasonOf(outcome: PromptOutcome): MetricStopReason {
  switch (outcome.status) {
    case 'ended':
      return OWN_WORD[outcome.stopReason];
    case 'cancelled':
      return 'cancelled';
    case 'error':
    case 'idle_timeout':
    case 'hard_timeout':
    case 'process_ended':
    case 'permission_poisoned':
      return 'error';
    default:
      return unreachable(outcome);
  }
}

const OWN_WORD: Readonly<Record<StopReason, MetricStopReason>> = {
  end_turn: 'end_turn',
  cancelled: 'cancelled',
  max_tokens: 'max_tokens',
  max_turn_requests: 'unknown',
  refusal: 'unknown',
};
