/** What a check-up has to say: that something is in order, or what is wrong and how it is mended. */
import { excerpt } from '../../model/index.ts';
import { print, safe } from '../print.ts';

export interface Finding {
  readonly about: string;
  /** Only a problem makes the check-up fail. */
  readonly is: 'ok' | 'hint' | 'problem';
  readonly what: string;
  readonly mend?: string;
}

export const ok = (about: string, what: string): Finding => ({ about, is: 'ok', what });
export const hint = (about: string, what: string, mend: string): Finding => ({ about, is: 'hint', what, mend });
export const problem = (about: string, what: string, mend: string): Finding => ({ about, is: 'problem', what, mend });

/** Scalars: a mend names modes, or a command with its arguments. */
export const MAX_MEND = 600;

const MARKS: Readonly<Record<Finding['is'], string>> = { ok: 'ok  ', hint: 'note', problem: 'BAD ' };

export function printFindings(findings: readonly Finding[]): void {
  const width = Math.max(0, ...findings.map(({ about }) => about.length));
  for (const { about, is, what, mend } of findings) {
    print(`${MARKS[is]}  ${about.padEnd(width)}  ${safe(what)}`);
    if (mend !== undefined) print(`${' '.repeat(MARKS[is].length + 2)}${' '.repeat(width + 2)}→ ${excerpt(mend, MAX_MEND)}`);
  }
}

/** 1 where a problem is among them. */
export function exitCodeFor(findings: readonly Finding[]): number {
  return findings.some(({ is }) => is === 'problem') ? 1 : 0;
}
