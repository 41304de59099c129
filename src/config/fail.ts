/** How a rule between members tells what is wrong, and what else it may know. */
import type { Path } from './document.ts';

/** Throws the failure that names file, line and member. */
export type Fail = (path: Path, sentence: string) => never;

export interface Resolving {
  /** Unix time, for what expires. */
  readonly nowMs: number;
  readonly fail: Fail;
}
