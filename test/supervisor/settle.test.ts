import { describe, expect, it } from 'vitest';
import type { PromptOutcome } from '../../src/acp/index.ts';
import { settle } from '../../src/supervisor/settle.ts';

const seen = { text: '', textCut: false, thoughts: 0, toolCalls: 0, updates: 0 };
const ended = (stopReason: 'end_turn' | 'max_tokens' | 'max_turn_requests' | 'refusal' | 'cancelled'): PromptOutcome =>
  ({ status: 'ended', stopReason, seen });

describe('settle', () => {
  it.each([
    ['end_turn', true], ['refusal', true], ['cancelled', true], ['max_tokens', false], ['max_turn_requests', false],
  ] as const)('%s is done; the session is kept: %s', (stopReason, keepSession) => {
    expect(settle(ended(stopReason), false)).toEqual({ ending: { how: 'done', outcome: stopReason }, keepSession });
  });

  const broken: readonly (readonly [string, PromptOutcome, object])[] = [
    ['an error', { status: 'error', code: -32_603, message: 'no', seen }, { how: 'again', interrupted: false, cause: 'failure' }],
    ['a login that ran out', { status: 'error', code: -32_000, message: 'no', seen }, { how: 'dead', tell: true }],
    ['a 401 of the model', { status: 'error', code: 1, message: 'API Error: 401', seen }, { how: 'dead', tell: true }],
    ['silence', { status: 'idle_timeout', afterMs: 9_000, processAlive: true, seen }, { how: 'again', interrupted: true, cause: 'failure' }],
    ['a turn without end', { status: 'hard_timeout', afterMs: 9_000, processAlive: true, seen }, { how: 'dead', reason: 'not finished after 9 s' }],
    ['a stop of ours', { status: 'cancelled', processAlive: true, seen }, { how: 'again', interrupted: true, cause: 'stop' }],
    ['the end of the process', { status: 'process_ended', end: { how: 'stopped' }, seen }, { how: 'again', interrupted: true, cause: 'failure' }],
  ];

  it.each(broken)('%s: the session is dropped', (_, outcome, ending) => {
    const settlement = settle(outcome, false);
    expect(settlement.ending).toMatchObject(ending);
    expect(settlement.keepSession).toBe(false);
  });

  it.each(broken)('%s after the answer is done: asking again would answer twice', (_, outcome) => {
    expect(settle(outcome, true).ending.how).toBe('done');
  });
});
