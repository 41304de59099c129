/** What became of one fixture and of all of them, as every reporter is told. */
import type { Outcome } from '../../replay/index.ts';

/** `blessed`: what differed was written as what is expected from now on. */
export interface Result {
  readonly outcome: Outcome;
  readonly blessed: boolean;
  readonly tookMs: number;
}

export type Word = Outcome['is'] | 'blessed';

export interface Summary {
  readonly counts: Readonly<Record<Word, number>>;
  readonly tookMs: number;
  readonly shard?: string;
}

export function wordOf({ outcome, blessed }: Result): Word {
  return blessed ? 'blessed' : outcome.is;
}
