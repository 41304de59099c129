/**
 * Which rows of a process table belong to an agent: pure, and careful. A pid proves nothing; a row is ours when its pid
 * and start time are known, when it is in the group or session the agent leads, or when its parent is ours.
 *
 * in: the rows, the leader, what was known before. out: the living members, the leader included while it lives.
 */
import type { ProcessIdentity, ProcessRow } from './process-table.ts';

export function membersOf(
  rows: readonly ProcessRow[],
  leader: ProcessIdentity,
  known: readonly ProcessIdentity[],
): readonly ProcessRow[] {
  const recorded = new Set([leader, ...known].map(key));
  // The kernel keeps a pid reserved while a group or session of that number lives. Another program under it means that
  // ours has ended and that the number is a stranger's now.
  const taken = rows.some((row) => row.pid === leader.pid && row.started !== leader.started);
  const ours = new Map<number, ProcessRow>();
  for (const row of rows) {
    const led = !taken && (row.group === leader.pid || row.session === leader.pid);
    if (led || recorded.has(key(row))) ours.set(row.pid, row);
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
