/**
 * From a profile to the words of a command line.
 * in: a profile, further arguments, the path of the Node that runs us. out: program and arguments, ready to spawn.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unreachable } from '../src/model/index.ts';
import type { AdapterProfile } from './profile.ts';

export interface CommandLine {
  readonly command: string;
  readonly args: readonly string[];
}

/** `extraArgs` follow the profile's own: for `scripted` the script's path. */
export function commandLine(profile: AdapterProfile, nodePath: string, extraArgs: readonly string[] = []): CommandLine {
  const { launch } = profile;
  switch (launch.runs) {
    case 'command':
      return { command: launch.command, args: [...launch.args, ...extraArgs] };
    case 'node-module':
      return { command: nodePath, args: [scriptedModule(), ...launch.args, ...extraArgs] };
    default:
      return unreachable(launch);
  }
}

/**
 * The compiled scripted agent, as an absolute path. Always the one in `dist`, also when this file itself runs from
 * TypeScript source, for plain Node cannot run the source. Throws when there is no package around this file.
 */
export function scriptedModule(): string {
  return join(packageRoot(dirname(fileURLToPath(import.meta.url))), 'dist', 'program', 'scripted.js');
}

function packageRoot(directory: string): string {
  if (existsSync(join(directory, 'package.json'))) return directory;
  const parent = dirname(directory);
  if (parent === directory) throw new Error('no package.json above the adapters');
  return packageRoot(parent);
}
