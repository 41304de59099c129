/**
 * Is there a program by that name, as the system will look for it? A word to the operator at start, never a refusal: the
 * program may be installed later, and what counts is the attempt to start it.
 */
import { accessSync, constants, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { delimiter, resolve } from 'node:path';
import type { LaunchPlan } from './ports.ts';

/** Linux looks at no more of it. */
const MAX_FIRST_LINE = 256;

type Sought = Pick<LaunchPlan, 'command' | 'cwd' | 'env'>;

/** Undefined where nothing that may be run has this name. A name with a slash is a path, seen from the agent's directory. */
export function findProgram(sought: Sought): string | undefined {
  return places(sought).find(isRunnable);
}

/** Where no program was found: a file of that name that only may not be executed. */
export function findNotExecutable(sought: Sought): string | undefined {
  return places(sought).find(isFile);
}

function places({ command, cwd, env }: Sought): readonly string[] {
  // An empty entry of PATH is the directory itself.
  const folders = command.includes('/') ? [''] : (env['PATH'] ?? '/usr/bin:/bin').split(delimiter);
  return folders.map((folder) => resolve(cwd, folder, command));
}

/** What the first line of a program (`#!`) names to run it, where it is a script; to the byte, as the system looks for it. */
export async function interpreterOf(path: string): Promise<string | undefined> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_FIRST_LINE), 0, MAX_FIRST_LINE, 0);
    return /^#![ \t]*([^ \t\n]+)/.exec(buffer.toString('utf8', 0, bytesRead))?.[1];
  } finally {
    await file.close();
  }
}

function isRunnable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return isFile(path);
  } catch {
    return false;
  }
}

/** What cannot be looked at is none. */
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
