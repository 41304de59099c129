/**
 * One program started: its own process group, no shell, exactly the environment of the plan, three pipes.
 * in: a launch plan. out: the running child, or why the system would not start it.
 */
import { ChildProcess, spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { excerpt, settleable } from '../model/index.ts';
import { endOfSpawnError } from './ends.ts';
import type { Exit } from './ends.ts';
import type { LaunchPlan, ProcessEnd } from './ports.ts';
import { findProgram, interpreterOf } from './program.ts';

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
  const { command, cwd } = plan;
  // Said here, because the system reports a missing directory as a missing program.
  if (!(await isDirectory(cwd))) {
    return {
      ok: false,
      end: { how: 'start_refused', command, detail: `cwd: expected an existing directory, found ${excerpt(cwd, 200)}` },
    };
  }
  const child = launch(plan);
  if (!(child instanceof ChildProcess)) return { ok: false, end: endOfSpawnError(command, child) };
  const failed = settleable<Error>();
  // Attached at once and for good: an error nobody listens for would end the supervisor.
  child.on('error', failed.resolve);
  const exited = settleable<Exit>();
  child.once('exit', (exitCode, signal) => {
    exited.resolve({ exitCode, signal });
  });
  const { pid, stdin, stdout, stderr } = child;
  if (pid === undefined) return { ok: false, end: await unlessFound(endOfSpawnError(command, await failed.promise), plan) };
  const drained = Promise.all([closed(stdout), closed(stderr)]).then(() => undefined);
  return { ok: true, child: { pid, stdin, stdout, stderr, exited: exited.promise, drained } };
}

/** The system reports a missing interpreter as a missing program. */
async function unlessFound(end: ProcessEnd, plan: LaunchPlan): Promise<ProcessEnd> {
  const path = end.how === 'not_found' ? findProgram(plan) : undefined;
  return path === undefined ? end : { how: 'no_interpreter', command: plan.command, interpreter: await interpreterOf(path) };
}

/**
 * Node's own spawn and no library over it: at the limit of file descriptors the child comes without pipes and tells its
 * error later, which a wrapper (execa 9 reads the pipes first) turns into an exception and an unheard error.
 */
function launch({ command, args, cwd, env }: LaunchPlan): ChildProcessWithoutNullStreams | Error {
  try {
    // A group of its own (`detached`), which is ended as a whole.
    return spawn(command, args, { cwd, env, shell: false, detached: true, stdio: 'pipe' });
  } catch (error) {
    // E2BIG and the like are thrown, others are told by an event: the caller sees one form.
    return error instanceof Error ? error : new Error(String(error));
  }
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
