/**
 * Who may have come from an agent and got away: a program that left the tree unseen, in a session of its own, without the
 * mark and without a pipe of ours. Nothing proves whose it is, and so it is told and never signalled. Pure.
 *
 * It looks like what is left of a double fork: started since the agent was, taken in by one who takes in orphans of ours
 * (one of those we descend from, or ourselves where we are the first process), in a session whose leader it is or whose
 * leader is gone, and no session of ours.
 */
import { startedSince } from './process-table.ts';
import type { ProcessIdentity, ProcessRow } from './process-table.ts';

/** `line`: ourselves and all we descend from. */
export function straysAmong(rows: readonly ProcessRow[], agent: ProcessIdentity, line: readonly ProcessRow[]): readonly ProcessRow[] {
  const takers = new Set(line.map(({ pid }) => pid));
  const sessions = new Set(line.map(({ session }) => session));
  const alive = new Set(rows.map(({ pid }) => pid));
  return rows.filter((row) => {
    const { pid, parent, session, zombie } = row;
    if (zombie || takers.has(pid) || !takers.has(parent) || session === undefined || sessions.has(session)) return false;
    return (session === pid || !alive.has(session)) && startedSince(row, agent);
  });
}

/** True for the directory itself and all below it. */
export function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`);
}
