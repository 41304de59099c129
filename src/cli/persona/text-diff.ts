/**
 * Two texts as lines for a person: what goes, what comes, and a little around it. What looks like a key shows as its
 * sort, and nothing in a text moves a cursor.
 */
import { structuredPatch } from 'diff';
import { maskSecrets } from '../../persona/index.ts';

/** Lines that may differ before both texts are shown whole: beyond it the search for the least takes seconds. */
const MAX_EDITS = 2_000;
const CONTEXT_LINES = 3;

/** No lines for equal texts. Names are those of the two sides. */
export function diffLines(before: string, after: string, [from, to]: readonly [string, string]): readonly string[] {
  if (before === after) return [];
  const patch = structuredPatch(from, to, before, after, undefined, undefined, { context: CONTEXT_LINES, maxEditLength: MAX_EDITS });
  const hunks = patch?.hunks ?? [wholesale(before, after)];
  return [`--- ${from}`, `+++ ${to}`, ...hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) =>
    [`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`, ...lines.map(screenLine)])];
}

function wholesale(before: string, after: string): { readonly oldStart: number; readonly oldLines: number; readonly newStart: number; readonly newLines: number; readonly lines: readonly string[] } {
  const [old, next] = [before.split('\n'), after.split('\n')];
  return {
    oldStart: 1, oldLines: old.length, newStart: 1, newLines: next.length,
    lines: [...old.map((line) => `-${line}`), ...next.map((line) => `+${line}`)],
  };
}

const UNPRINTABLE = /(?!\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A line of a text on a screen: whole, tabs as they are, nothing that a terminal obeys, no key. */
export function screenLine(line: string): string {
  return maskSecrets(line.toWellFormed()).replace(UNPRINTABLE, (scalar) => `\\u{${(scalar.codePointAt(0) ?? 0).toString(16)}}`);
}

/** A whole text on a screen. */
export function screenLines(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n').map(screenLine);
}
