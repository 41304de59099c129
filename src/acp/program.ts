/**
 * Is there a program by that name, as the system will look for it? A word to the operator at start, never a refusal: the
 * program may be installed later, and what counts is the attempt to start it.
 */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import type { LaunchPlan } from './ports.ts';

/** Undefined where nothing that may be run has this name. A name with a slash is a path, seen from the agent's directory. */
export function findProgram({ command, cwd, env }: Pick<LaunchPlan, 'command' | 'cwd' | 'env'>): string | undefined {
  // An empty entry of PATH is the directory itself.
  const folders = command.includes('/') ? [''] : (env['PATH'] ?? '/usr/bin:/bin').split(delimiter);
  return folders.map((folder) => resolve(cwd, folder, command)).find(isRunnable);
}

function isRunnable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
