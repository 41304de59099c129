/** A guess at what was meant: the known word closest to a mistyped one, letter case and separators aside. */

/** The nearest of `known` to `word`, or undefined when none is near. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const plain = simplify(word.slice(0, 64));
  const ranked = known.map((name) => ({ name, edits: distance(plain, simplify(name)) }));
  ranked.sort((a, b) => a.edits - b.edits);
  const [best] = ranked;
  return best !== undefined && best.edits <= Math.max(1, Math.floor(plain.length / 3)) ? best.name : undefined;
}

function simplify(word: string): string {
  return word.toLowerCase().replace(/[-_ ]/g, '');
}

/** Insertions, deletions and replacements from one text to the other. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
