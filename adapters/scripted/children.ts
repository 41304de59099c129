/**
 * Starts a child, so that a client's killing of whole process trees can be tested.
 * in: the spawn step. out: the child's pid, once it runs (and, where asked, ignores SIGTERM already).
 * Without a command the child is a shell that becomes `sleep`: it ends by itself, should nobody end it.
 */
import { spawn } from 'node:child_process';
import type { ActOf } from './script.ts';

export function startChild({ command, seconds, detached, trapTerm, inheritStdio }: ActOf<'spawn'>): Promise<number> {
  const [program, ...args] = command ?? ['sleep', String(seconds)];
  // An ignored signal stays ignored across exec; file descriptor 3 closing says that the trap stands.
  const prelude = `${trapTerm ? "trap '' TERM; " : ''}exec 3>&-; exec "$0" "$@"`;
  const through = inheritStdio ? 'inherit' : 'ignore';
  const child = spawn('/bin/sh', ['-c', prelude, program, ...args], {
    detached,
    stdio: ['ignore', through, through, 'pipe'],
  });
  child.unref();
  return new Promise((done, fail) => {
    child.once('error', fail);
    const ready = child.stdio[3];
    if (ready === null || ready === undefined || child.pid === undefined) return;
    const { pid } = child;
    ready.once('close', () => {
      done(pid);
    });
    if ('resume' in ready) ready.resume();
  });
}
