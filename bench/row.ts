/**
 * What every benchmark prints: one subject against its floor, measured in turns within one run, so that a slow or
 * busy machine slows both.
 */

/** `ratio` is subject over floor in the sense `unit` says; `detail` holds the absolute figures, for people. */
export interface BenchRow {
  readonly goal: string;
  readonly name: string;
  readonly ratio: number;
  readonly floor: string;
  readonly unit: string;
  readonly detail: string;
}
