/**
 * One program started: its own process group, no shell, exactly the environment of the plan, three pipes.
 * in: a launch plan. out: the running child, or why the system would not start it.
 */
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { execa } from 'execa';
import { excerpt } from '../model/index.ts';
import { endOfSpawnError } from './ends.ts';
import type { Exit } from './ends.ts';
import type { LaunchPlan, ProcessEnd } from './ports.ts';
import { settleable } from './waiting.ts';

export interface Child {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Settles when the program itself has ended, whoever holds its pipes. */
  readonly exited: Promise<Exit>;
  /** Settles when the last byte of stdout and stderr was read. */
  readonly drained: Promise<void>;
}

/**
 * Resolves in the turn of the event loop that started the child, so that no byte of it is missed by a reader attached
 * then.
 */
export async function spawnChild(
  plan: LaunchPlan,
): Promise<{ readonly ok: true; readonly child: Child } | { readonly ok: false; readonly end: ProcessEnd }> {
  const { command, args, cwd, env } = plan;
  // Said here, because the system reports a missing directory as a missing program.
  if (!(await isDirectory(cwd))) {
    return {
      ok: false,
      end: { how: 'start_refused', command, detail: `cwd: expected an existing directory, found ${excerpt(cwd, 200)}` },
    };
  }
  const subprocess = execa(command, args, {
    cwd,
    env,
    extendEnv: false,
    shell: false,
    // A group of its own, which is ended as a whole; so nothing is left to a hook at our own exit.
    detached: true,
    cleanup: false,
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
    buffer: false,
    reject: false,
  });
  const { pid, stdin, stdout, stderr } = subprocess;
  if (pid === undefined) {
    const { code, originalMessage = 'the program could not be started' } = await subprocess;
    return { ok: false, end: endOfSpawnError(command, code, originalMessage) };
  }
  const exited = settleable<Exit>();
  subprocess.once('exit', (exitCode, signal) => {
    exited.resolve({ exitCode, signal });
  });
  const drained = Promise.all([closed(stdout), closed(stderr)]).then(() => undefined);
  return { ok: true, child: { pid, stdin, stdout, stderr, exited: exited.promise, drained } };
}

export async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

function closed(stream: Readable): Promise<unknown> {
  // A pipe that fails is a pipe that ended: there is nothing more to read.
  stream.on('error', () => undefined);
  return stream.closed ? Promise.resolve() : once(stream, 'close').catch(() => undefined);
}
