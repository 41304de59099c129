/** `npm run bench -- soak` in small: what many turns leave open, or begin anew. */
import { expect, it } from 'vitest';
import { runLong } from '../../bench/long-run.ts';

const TURNS = 120;

it('holds no more open after many turns than after some', { timeout: 120_000 }, async () => {
  const { looks: [, first, ...later], outcomes } = await runLong({ turns: TURNS, looks: 4, processes: 2 });
  expect(outcomes).toEqual({ end_turn: TURNS });
  expect(later.map(({ turns }) => turns)).toEqual([60, 90, 120]);
  for (const { handles, files } of later) {
    // A timer or a request to the relay may be under way at a look, never one for each turn.
    expect(Math.abs(handles - (first?.handles ?? 0))).toBeLessThan(10);
    expect(Math.abs(files - (first?.files ?? 0))).toBeLessThan(5);
  }
});
