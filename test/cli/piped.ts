/** The real program with something on its stdin and a reader of the test's own on its stdout. */
import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { LAUNCHER } from './skep.ts';

export interface Piped {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export function openPiped(args: readonly string[], cwd: string): ChildProcessByStdio<Writable, Readable, Readable> {
  const child = spawn(process.execPath, [LAUNCHER, ...args], { cwd, stdio: ['pipe', 'pipe', 'pipe'] });
  // A program that has refused its input reads no more of it.
  child.stdin.on('error', () => undefined);
  return child;
}

/** Runs to the end with `input` on stdin. */
export async function runPiped(args: readonly string[], cwd: string, input: string | Uint8Array = ''): Promise<Piped> {
  const child = openPiped(args, cwd);
  child.stdin.end(input);
  const [stdout, stderr, [code]] = await Promise.all([buffer(child.stdout), text(child.stderr), once(child, 'close')]) as [Buffer, string, [number | null]];
  return { code, stdout, stderr };
}
