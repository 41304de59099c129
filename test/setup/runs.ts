/**
 * How many random runs a property has, enough for each push, and what they draw. `SKEP_RUNS=5` has five times as many;
 * `SKEP_SEED=7`, any integer, draws others.
 */

/** The same in each run, so that what is green stays so. */
export const SEED = Number(process.env['SKEP_SEED'] ?? 20_261_130);

export function runs(each: number): number {
  return each * Number(process.env['SKEP_RUNS'] ?? 1);
}
