/** How much memory a program and all that it has started hold. Undefined where the system does not say. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

interface Row {
  readonly pid: number;
  readonly parent: number;
  readonly kilobytes: number;
}

const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

export async function memoryOfTree(root: number): Promise<{ readonly bytes: number; readonly processes: number } | undefined> {
  try {
    const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,rss='], { maxBuffer: MAX_OUTPUT_BYTES });
    return sumOfTree(root, stdout);
  } catch {
    return undefined;
  }
}

/** From the words of `ps`. Pure. */
export function sumOfTree(root: number, words: string): { readonly bytes: number; readonly processes: number } | undefined {
  const rows = words.split('\n').map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([pid, parent, kilobytes]): readonly Row[] =>
      (pid === undefined || parent === undefined || kilobytes === undefined ? [] : [{ pid, parent, kilobytes }]));
  const tree = new Set([root]);
  for (let before = 0; before !== tree.size;) {
    before = tree.size;
    for (const { pid, parent } of rows) if (tree.has(parent)) tree.add(pid);
  }
  const members = rows.filter(({ pid }) => tree.has(pid));
  if (members.length === 0) return undefined;
  return { bytes: members.reduce((sum, { kilobytes }) => sum + kilobytes * 1_024, 0), processes: members.length };
}
