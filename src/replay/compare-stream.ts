/**
 * A recorded stream against what the gate and the inbox make of it now: turn boundaries, order, coalescing, retries and
 * dead letters are sightings, and these are compared one by one, in order.
 */
import type { Found } from './compare-turn.ts';
import { unifiedDiff } from './difference.ts';
import type { Sighting } from './stream-fixture.ts';

/** At the first sighting that differs, with all that follows in its diff; none when all are the same. */
export function streamDifferences(recorded: readonly Sighting[], now: readonly Sighting[]): readonly Found[] {
  const [before, after] = [recorded.map(lineOfSighting), now.map(lineOfSighting)];
  const index = Array.from({ length: Math.max(before.length, after.length) }, (_, at) => at).find((at) => before[at] !== after[at]);
  if (index === undefined) return [];
  const [one, other] = [before[index], after[index]];
  return [{
    at: one === undefined ? 'expected' : `expected[${index}]`,
    is: 'sightings',
    ...(one !== undefined && { recorded: one }),
    ...(other !== undefined && { now: other }),
    diff: unifiedDiff(before.join('\n'), after.join('\n')),
  }];
}

/** Members in the order of the format, whatever order they were written in. */
function lineOfSighting(sighting: Sighting): string {
  return JSON.stringify(sighting);
}
