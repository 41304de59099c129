/**
 * Which rows of a process table belong to an agent: pure, and careful. A pid proves nothing; a row is ours when its pid
 * and start time are known, when it carries the agent's mark, when it is in a group or session that one of ours leads,
 * or when its parent is ours.
 *
 * in: the rows, who leads (the agent, and tools seen a moment ago with a group of their own: what these forked last may
 * outlive them), what was known before, who is marked. out: the living members, the agent included while it lives.
 */
import type { ProcessIdentity, ProcessRow } from './process-table.ts';

export function membersOf(
  rows: readonly ProcessRow[],
  leaders: readonly ProcessIdentity[],
  known: readonly ProcessIdentity[],
  marked: ReadonlySet<number> = new Set(),
): readonly ProcessRow[] {
  const recorded = new Set([...leaders, ...known].map(key));
  // The kernel keeps a pid reserved while a group or session of that number lives. Another program under it means that
  // ours has ended and that the number is a stranger's now.
  const startedOf = new Map(rows.map(({ pid, started }) => [pid, started]));
  const led = new Set(
    leaders.filter(({ pid, started }) => (startedOf.get(pid) ?? started) === started).map(({ pid }) => pid),
  );
  const ours = new Map<number, ProcessRow>();
  for (const row of rows) {
    const inOurs = led.has(row.group) || (row.session !== undefined && led.has(row.session));
    if (inOurs || recorded.has(key(row)) || marked.has(row.pid)) ours.set(row.pid, row);
  }
  const children = childrenByParent(rows);
  const queue = [...ours.keys()];
  for (let parent = queue.pop(); parent !== undefined; parent = queue.pop()) {
    for (const child of children.get(parent) ?? []) {
      if (ours.has(child.pid)) continue;
      ours.set(child.pid, child);
      queue.push(child.pid);
    }
  }
  return [...ours.values()].filter((row) => !row.zombie);
}

/** A process and all it descends from. */
export function lineOf(pid: number, rows: readonly ProcessRow[]): readonly ProcessRow[] {
  const byPid = new Map(rows.map((row) => [row.pid, row]));
  const line = new Set<ProcessRow>();
  for (let row = byPid.get(pid); row !== undefined && !line.has(row); row = byPid.get(row.parent)) line.add(row);
  return [...line];
}

function childrenByParent(rows: readonly ProcessRow[]): ReadonlyMap<number, readonly ProcessRow[]> {
  const children = new Map<number, ProcessRow[]>();
  for (const row of rows) {
    const siblings = children.get(row.parent);
    if (siblings === undefined) children.set(row.parent, [row]);
    else siblings.push(row);
  }
  return children;
}

function key({ pid, started }: ProcessIdentity): string {
  return `${pid} ${started}`;
}
