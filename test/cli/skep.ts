/** Runs `bin/skep.js` as people do: a process of its own, in a folder of its own, its output as they see it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export const LAUNCHER = fileURLToPath(new URL('../../bin/skep.js', import.meta.url));

export interface Ended {
  /** The exit code, or the signal that ended it. */
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Skep {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Resolves when both streams together hold the text; rejects when the program ends before. */
  readonly says: (text: string) => Promise<void>;
}

const started: Skep[] = [];

/** For afterEach: no program outlives its test. */
export async function stopAll(): Promise<void> {
  await Promise.all(started.splice(0).map((skep) => {
    skep.kill('SIGKILL');
    return skep.ended;
  }));
}

export function startSkep(args: readonly string[], cwd: string, launcher = LAUNCHER): Skep {
  const child = spawn(process.execPath, [launcher, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  const listeners = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      output[name] += chunk;
      for (const listener of listeners) listener();
    });
  }
  const ended = once(child, 'close').then((): Ended => ({ code: child.exitCode ?? child.signalCode ?? '?', ...output }));
  const says = (text: string): Promise<void> => new Promise((resolve, reject) => {
    const look = (): void => {
      if (!(output.stdout + output.stderr).includes(text)) return;
      listeners.delete(look);
      resolve();
    };
    listeners.add(look);
    look();
    void ended.then(({ code }) => {
      reject(new Error(`ended with ${code} before it said "${text}":\n${output.stdout}${output.stderr}`));
    });
  });
  const skep: Skep = { pid: child.pid ?? 0, ended, kill: (signal) => { child.kill(signal); }, says };
  started.push(skep);
  return skep;
}

export function runSkep(args: readonly string[], cwd: string): Promise<Ended> {
  return startSkep(args, cwd).ended;
}
