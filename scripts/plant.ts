/** One fault in one source. in: text. out: the text with the fault in it, or why it does not apply. */
import type { Fault } from './compiler-faults.ts';

export type Planted = { readonly ok: true; readonly source: string } | { readonly ok: false; readonly why: string };

/** The text to be broken must stand in `source` exactly once: else the fault is about code that is gone. */
export function plant(source: string, { find, replace }: Pick<Fault, 'find' | 'replace'>): Planted {
  const times = source.split(find).length - 1;
  if (times !== 1) return { ok: false, why: `does not apply: its text is found ${String(times)} times` };
  // A function, because `$&` in a replacement text would be a pattern.
  return { ok: true, source: source.replace(find, () => replace) };
}
