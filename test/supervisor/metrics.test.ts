/** Which turns have a metric, and what it says of their end. */
import { describe, expect, it } from 'vitest';
import type { PromptOutcome } from '../../src/acp/index.ts';
import { stopReasonOf } from '../../src/supervisor/metrics.ts';
import { openBench } from './bench.ts';
import { channel, message } from './people.ts';

const seen = { text: '', textCut: false, thoughts: 0, toolCalls: 0, updates: 0 };
const usage = { inputTokens: 7, outputTokens: 2, totalTokens: 9 };

describe('the stop reason', () => {
  it.each<[Omit<Extract<PromptOutcome, { status: 'ended' }>, 'seen'>, string]>([
    [{ status: 'ended', stopReason: 'end_turn' }, 'end_turn'],
    [{ status: 'ended', stopReason: 'max_tokens' }, 'max_tokens'],
    [{ status: 'ended', stopReason: 'cancelled' }, 'cancelled'],
    [{ status: 'ended', stopReason: 'max_turn_requests' }, 'unknown'],
    [{ status: 'ended', stopReason: 'refusal' }, 'unknown'],
  ])('of %j is %s', (outcome, expected) => {
    expect(stopReasonOf({ ...outcome, seen })).toBe(expected);
  });

  it('of what did not end by the agent’s word', () => {
    expect(stopReasonOf({ status: 'cancelled', processAlive: true, seen })).toBe('cancelled');
    expect(stopReasonOf({ status: 'error', code: 400, message: 'no', seen })).toBe('error');
    expect(stopReasonOf({ status: 'idle_timeout', afterMs: 1, processAlive: true, seen })).toBe('error');
    expect(stopReasonOf({ status: 'hard_timeout', afterMs: 1, processAlive: false, seen })).toBe('error');
    expect(stopReasonOf({ status: 'process_ended', end: { how: 'stopped' }, seen })).toBe('error');
  });
});

describe('a turn', () => {
  it('with usage has a metric; the next one of the session the next number, and one without usage none', async () => {
    const bench = openBench({
      script: { rules: [{ match: 'quiet', do: [{ say: 'hm' }] }, { do: [{ say: 'answer' }, { stop: { usage } }] }] },
    });
    for (const [nth, text] of ['one', 'quiet', 'two'].entries()) {
      await bench.hear(message({ content: text }));
      await bench.nth('turn_ended', nth + 1);
    }
    const turns = bench.seen('turn_started');
    const metrics = bench.link.metrics.map((text) => JSON.parse(text) as Record<string, unknown>);
    expect(metrics).toMatchObject([
      { harness: 'skep', channelId: channel, turnId: turns[0]?.turnId, turnSeq: 1, stopReason: 'end_turn', turn: usage, contextManifest: { hash: turns[0]?.manifestHash } },
      { turnId: turns[2]?.turnId, turnSeq: 2, contextManifest: { hash: turns[2]?.manifestHash } },
    ]);
    expect(metrics[0]?.['timestamp']).toBe(new Date(bench.clock.now()).toISOString());
    expect(metrics[0]?.['sessionId']).toBe(metrics[1]?.['sessionId']);
  });

  it('that failed has one as well', async () => {
    const cost = { sessionUpdate: 'usage_update', used: 1, size: 2, cost: { amount: 0.5, currency: 'USD' } };
    const bench = openBench({ script: { rules: [{ do: [{ update: cost }, { error: { code: 401, message: 'not logged in' } }] }] } });
    await bench.hear(message({ content: 'one' }));
    await bench.nth('turn_ended');
    expect(bench.link.metrics.map((text) => JSON.parse(text) as unknown)).toMatchObject([
      { stopReason: 'error', turn: { costUsd: 0.5, inputTokens: null }, cumulative: { costUsd: 0.5 } },
    ]);
  });
});
