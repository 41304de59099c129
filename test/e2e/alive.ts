/** Whether a process runs. One that ended and that nobody waits for still has its number, and does not. */
import { execFileSync } from 'node:child_process';

export function isAlive(pid: number): boolean {
  try {
    return !execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).trim().startsWith('Z');
  } catch {
    // `ps` found none.
    return false;
  }
}
