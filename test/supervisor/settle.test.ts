import { describe, expect, it } from 'vitest';
import type { PromptOutcome } from '../../src/acp/index.ts';
import { processFate, settle, settleMerged, settleRefused } from '../../src/supervisor/settle.ts';

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
    ['a login that ran out', { status: 'error', code: -32_000, message: 'no', trouble: { is: 'login' }, seen }, { how: 'dead', reason: 'the agent program is not logged in' }],
    ['a limit of the provider', { status: 'error', code: 429, message: 'no', trouble: { is: 'limit', retryAfterMs: 5 }, seen }, { how: 'again', interrupted: false, cause: 'limit', retryAfterMs: 5 }],
    ['silence', { status: 'idle_timeout', afterMs: 9_000, processAlive: true, seen }, { how: 'again', interrupted: true, cause: 'failure' }],
    ['a turn without end', { status: 'hard_timeout', afterMs: 9_000, processAlive: true, seen }, { how: 'dead', reason: 'not finished after 9 s' }],
    ['a stop of ours', { status: 'cancelled', processAlive: true, seen }, { how: 'again', interrupted: true, cause: 'stop' }],
    ['a cancel that met an answer on its way', { status: 'permission_poisoned', cause: 'cancelled', seen }, { how: 'again', interrupted: true, cause: 'stop' }],
    ['an answer left unread', { status: 'permission_poisoned', cause: 'unread', seen }, { how: 'again', interrupted: true, cause: 'failure' }],
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

describe('settleMerged', () => {
  const MADE_ROOM = 'cut short for a message that came meanwhile';
  it.each<readonly [string, PromptOutcome, boolean, object]>([
    ['a cancel', { status: 'cancelled', processAlive: true, seen }, false, { how: 'again', reason: MADE_ROOM, interrupted: true, cause: 'stop' }],
    ['a cancel after it published', { status: 'cancelled', processAlive: false, seen }, true, { how: 'done', outcome: `${MADE_ROOM}, after it had published`, unfinished: true }],
    ['a cancel that met an answer, after it published', { status: 'permission_poisoned', cause: 'cancelled', seen }, true, { how: 'done', outcome: `${MADE_ROOM}, after it had published`, unfinished: true }],
    ['its own end, in spite of the cancel', ended('end_turn'), true, { how: 'done', outcome: 'end_turn' }],
    ['a timeout of before', { status: 'hard_timeout', afterMs: 9_000, processAlive: true, seen }, false, { how: 'dead', reason: 'not finished after 9 s' }],
    ['a timeout of before, after it published', { status: 'idle_timeout', afterMs: 9_000, processAlive: true, seen }, true, { how: 'done', outcome: 'idle after the answer' }],
  ])('%s', (_, outcome, answered, ending) => {
    expect(settleMerged(outcome, answered).ending).toEqual(ending);
  });
});

describe('settleRefused', () => {
  it.each([
    ['a login that ran out', { is: 'login' }, { how: 'dead', reason: 'the agent program is not logged in; its operator has to give it a KEY' }],
    ['a limit', { is: 'limit' }, { how: 'again', cause: 'limit' }], ['another error', undefined, { how: 'again', cause: 'failure' }],
  ] as const)('%s', (_, trouble, ending) => {
    expect(settleRefused({ ok: false, code: 'error', rpcCode: -32_603, detail: 'no', ...(trouble && { trouble }) }, 'a KEY')).toMatchObject(ending);
  });

  it('no answer is a failure of the process, not of the message', () => {
    expect(settleRefused({ ok: false, code: 'timeout', detail: 'x' })).toMatchObject({ how: 'again', interrupted: false, cause: 'failure' });
  });
});

describe('processFate', () => {
  it.each<readonly [string, PromptOutcome, string]>([
    ['ended', ended('end_turn'), 'kept'],
    ['error', { status: 'error', code: 1, message: '', seen }, 'kept'],
    ['process_ended', { status: 'process_ended', end: { how: 'stopped' }, seen }, 'gone'],
    ['idle, asked in vain', { status: 'idle_timeout', afterMs: 1, processAlive: false, seen }, 'crashed'],
    ['idle, and it listened', { status: 'idle_timeout', afterMs: 1, processAlive: true, seen }, 'retired'],
    ['cancelled', { status: 'cancelled', processAlive: true, seen }, 'retired'],
    ['poisoned by a cancel', { status: 'permission_poisoned', cause: 'cancelled', seen }, 'retired'],
    ['poisoned, because it does not read', { status: 'permission_poisoned', cause: 'unread', seen }, 'crashed'],
  ])('%s', (_, outcome, fate) => {
    expect(processFate(outcome)).toBe(fate);
  });
});
