/**
 * How many random runs a property has: enough for each push, and SKEP_RUNS times as many in a long run
 * (`SKEP_RUNS=5 npx vitest run test/compiler`). A failure prints its seed, with which it is had again.
 */
export function runs(each: number): number {
  return each * Number(process.env['SKEP_RUNS'] ?? 1);
}
