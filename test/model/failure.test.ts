import { expect, it } from 'vitest';
import { exitCodeOf, Failure, FAILURES } from '../../src/model/index.ts';
import type { FailureCode } from '../../src/model/index.ts';

it('every failure has its exit code; what is no failure is a bug', () => {
  const codes = Object.entries(FAILURES).map(([code]) => [code, exitCodeOf(new Failure(code as FailureCode, 'x'))]);
  expect(Object.fromEntries(codes)).toEqual({
    not_seen: 1, usage: 2, config: 2, refused_input: 2, in_use: 4, storage_full: 5, storage_readonly: 5, storage_corrupt: 5, storage_newer: 5,
    storage_busy: 5, storage_failed: 5, open_files: 5, nothing_replayed: 3, listen: 6, not_running: 7, agent: 1, relay: 1, forced: 130,
    call_failed: 10, call_uncertain: 11, call_transport: 12, nothing_waits: 13, unanswered: 14, declined: 15, not_changed: 15, partly_done: 16,
  });
  expect(exitCodeOf(new TypeError('x'))).toBe(70);
});
