import { describe, expect, it } from 'vitest';
import type { PromptOutcome } from '../../../src/acp/index.ts';
import { hasRead, sessionEnd } from '../../../src/supervisor/sessions/end.ts';

const seen = { text: '', textCut: false, thoughts: 0, toolCalls: 0, updates: 0 };
const END = { how: 'stopped' } as const;
const GOES_ON = { isKept: true, isLast: false, isStopping: false };
const ENDS = { ...GOES_ON, isKept: false };

const OUTCOMES: Readonly<Record<string, PromptOutcome>> = {
  end_turn: { status: 'ended', stopReason: 'end_turn', seen },
  max_tokens: { status: 'ended', stopReason: 'max_tokens', seen },
  refusal: { status: 'ended', stopReason: 'refusal', seen },
  error: { status: 'error', code: 1, message: '', seen },
  heeded: { status: 'cancelled', processAlive: true, seen },
  ignored: { status: 'cancelled', processAlive: false, seen },
  silent: { status: 'idle_timeout', afterMs: 1, processAlive: true, seen },
  long: { status: 'hard_timeout', afterMs: 1, processAlive: true, seen },
  poisoned: { status: 'permission_poisoned', cause: 'unread', seen },
  gone: { status: 'process_ended', end: END, seen },
};

function outcomeOf(name: string): PromptOutcome {
  return OUTCOMES[name] ?? expect.fail(name);
}

describe('the session of a turn that is over', () => {
  it.each([
    ['end_turn', GOES_ON, 'kept'], ['refusal', GOES_ON, 'kept'], ['heeded', GOES_ON, 'kept'], ['max_tokens', ENDS, 'dropped'],
    ['error', ENDS, 'dropped'], ['heeded', ENDS, 'lost'], ['ignored', ENDS, 'dropped'], ['silent', ENDS, 'dropped'], ['long', ENDS, 'dropped'],
    ['poisoned', ENDS, 'dropped'], ['gone', ENDS, 'lost'],
    ['ignored', { ...ENDS, isStopping: true }, 'lost'], ['end_turn', { ...GOES_ON, isLast: true }, 'dropped'], ['gone', { ...ENDS, isLast: true }, 'dropped'],
  ] as const)('%s, %j: %s', (name, mark, end) => {
    expect(sessionEnd(outcomeOf(name), mark)).toBe(end);
  });

  it('has read what it has ended or heeded, and nothing else for certain', () => {
    const read = Object.keys(OUTCOMES).filter((name) => hasRead(outcomeOf(name), true));
    expect(read).toEqual(['end_turn', 'max_tokens', 'heeded']);
    expect(Object.keys(OUTCOMES).filter((name) => hasRead(outcomeOf(name), false))).toEqual([]);
  });
});
