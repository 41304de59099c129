import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileTurn } from '../../compiler/index.ts';
import { hostileTurn } from './turns.ts';
import { twinOf } from './twin.ts';

test('the compiler and its plain twin give the same bytes for 3000 hostile turns', () => {
  fc.assert(
    fc.property(hostileTurn, (input) => {
      expect(JSON.stringify(compileTurn(input))).toBe(JSON.stringify(twinOf(input)));
    }),
    { numRuns: 3000, seed: 20_261_130 },
  );
});
