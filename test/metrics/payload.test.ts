import { expect, it } from 'vitest';
import { manifestOf } from '../../compiler/index.ts';
import { metricText } from '../../src/metrics/index.ts';

const manifest = manifestOf([{
  order: 7, layer: 'current_instruction', scope: 'turn', source: 'nostr_event', version: 'event-1', authority: 'authoritative',
  freshness: 'current', estimatedTokens: 1, truncated: false,
}]);
const counters = { inputTokens: 188, outputTokens: 22, totalTokens: 210, costUsd: null, cacheReadTokens: 33, cacheWriteTokens: 44 };
const turn = { timestamp: '2026-07-01T20:11:03.213Z', channelId: 'c', sessionId: 's', turnId: 't', stopReason: 'end_turn', manifest } as const;

it('says what one turn has used, and which context went in', () => {
  const text = metricText({ ...turn, usage: { turnSeq: 17, turn: counters, deltaReliable: true, model: 'm' } });
  expect(JSON.parse(text)).toEqual({
    harness: 'skep', model: 'm', channelId: 'c', sessionId: 's', turnId: 't', turnSeq: 17, timestamp: '2026-07-01T20:11:03.213Z',
    turn: counters, cumulative: null, deltaReliable: true, stopReason: 'end_turn',
    contextManifest: {
      schemaVersion: 1, hash: 'sha256:e6c77d04da70df30c632174621fcb8f23102c1b6df7fe14f02092d6466e6c115',
      layers: [{
        order: 7, layer: 'current_instruction', scope: 'turn', source: 'nostr_event', version: 'event-1', authority: 'authoritative',
        freshness: 'current', estimatedTokens: 1, truncated: false,
      }],
    },
  });
});

it('writes what is not known as null, and of the cache only what is known', () => {
  const unknown = { inputTokens: null, outputTokens: null, totalTokens: null, costUsd: null, cacheReadTokens: null, cacheWriteTokens: null };
  const text = metricText({
    ...turn, stopReason: 'error',
    usage: { turnSeq: 1, turn: unknown, cumulative: { ...unknown, inputTokens: 7, cacheReadTokens: 0 }, deltaReliable: false },
  });
  expect(JSON.parse(text)).toMatchObject({ model: null, turn: null, deltaReliable: false, stopReason: 'error' });
  expect(text).toContain('"cumulative":{"inputTokens":7,"outputTokens":null,"totalTokens":null,"costUsd":null,"cacheReadTokens":0}');
});
