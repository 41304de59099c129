import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileTurn } from '../../compiler/index.ts';
import { hostileTurn } from './turns.ts';
import { twinOf } from './twin.ts';

test('the compiler and its plain twin give the same bytes for 2000 hostile turns', { timeout: 60_000 }, () => {
  fc.assert(
    fc.property(hostileTurn, (input) => {
      expect(JSON.stringify(compileTurn(input))).toBe(JSON.stringify(twinOf(input)));
    }),
    { numRuns: 2000, seed: 20_261_130 },
  );
});
