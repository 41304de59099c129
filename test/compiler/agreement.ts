/** The compiler against its twin on many random turns. Two test files share the work, so that it takes both cores. */
import * as fc from 'fast-check';
import { expect } from 'vitest';
import { appendSteer, compileSteer, compileTurn, ledgerManifest, openLedger } from '../../compiler/index.ts';
import type { TurnInput } from '../../compiler/index.ts';
import { runs, SEED } from '../setup/runs.ts';
import { BRANCHES } from './branches.ts';
import { hostileTurn } from './hostile.ts';
import { twinOf } from './twin.ts';
import type { Twin } from './twin.ts';

/** In each half. The check of planted faults asks for fewer. */
export const TURNS = Number(process.env['SKEP_TWIN_TURNS'] ?? runs(10_000));

/** Fails at the first turn of which one output differs. Gives the cases of the rules that were never met. Each half draws its own. */
export function agree(turns: number, half: 0 | 1): readonly string[] {
  const unmet = new Map(Object.entries(BRANCHES));
  fc.assert(
    fc.property(hostileTurn, (input) => {
      for (const [name, holds] of unmet) if (holds(input)) unmet.delete(name);
      const [ours, twin] = [oursOf(input), twinOf(input)];
      // A comparison of text first: `expect` costs as much as both.
      if (ours.compiled !== twin.compiled || ours.steer !== twin.steer || ours.ledger !== twin.ledger) {
        expect(ours).toEqual(twin);
      }
    }),
    { numRuns: turns, seed: SEED + half },
  );
  return [...unmet.keys()];
}

function oursOf(input: TurnInput): Twin {
  const compiled = compileTurn(input);
  const steer = compileSteer(input);
  const ledger = appendSteer(appendSteer(openLedger(compiled.manifest), steer.layers), steer.layers);
  return {
    compiled: JSON.stringify(compiled),
    steer: JSON.stringify(steer),
    ledger: JSON.stringify(ledgerManifest(ledger)),
  };
}
