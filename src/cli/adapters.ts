/**
 * `skep adapters`: the catalogue of agent programs, and which of them are here. Looks at files alone: no program is
 * started for it.
 */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { adapterNames, commandLine, findAdapter } from '../../adapters/index.ts';
import type { AdapterProfile } from '../../adapters/index.ts';
import { childEnvironment, findProgram } from '../acp/index.ts';
import { print } from './print.ts';

/** `installed` is the program's path, `version` that of the npm package it is of; null where there is none. */
interface Listed {
  readonly adapter: string;
  readonly title: string;
  readonly command: string;
  readonly installed: string | null;
  readonly version: string | null;
  readonly install: string | null;
  readonly node: string | null;
  readonly login: string | null;
  readonly asks: string;
  readonly docs: string | null;
}

/** Folders above a program in which its package.json is looked for. */
const MAX_CLIMB = 6;

export function adaptersVerb(program: Command): void {
  program
    .command('adapters')
    .description('list the known agent programs, which of them are installed here, and how to install the others')
    .option('--json', 'as one JSON list')
    .action(({ json = false }: { readonly json?: boolean }) => {
      const listed = adapterNames.flatMap((name) => findAdapter(name) ?? []).map(look);
      if (json) print(JSON.stringify(listed));
      else for (const line of linesOf(listed)) print(line);
    });
}

function look(profile: AdapterProfile): Listed {
  const { name, title, needs, asking, docsUrl, launch } = profile;
  const { command, args } = commandLine(profile, process.execPath);
  const found = findProgram({ command, cwd: process.cwd(), env: childEnvironment({ parent: process.env }) });
  return {
    adapter: name,
    title,
    command: launch.runs === 'command' ? [command, ...args].join(' ') : 'part of skep',
    installed: found ?? null,
    version: found === undefined || launch.runs !== 'command' ? null : packageVersion(found) ?? null,
    install: needs.install ?? null,
    node: needs.node ?? null,
    login: needs.login ?? null,
    asks: asking.how,
    docs: docsUrl ?? null,
  };
}

function linesOf(listed: readonly Listed[]): readonly string[] {
  const width = Math.max(...listed.map(({ adapter }) => adapter.length));
  return listed.flatMap(({ adapter, command, installed, version, install, docs }) => {
    const head = `${adapter.padEnd(width)}  ${command}`;
    if (installed !== null) return [`${head}  ${[version, installed].filter((word) => word !== null).join('  ')}`];
    return [`${head}  not installed: ${install ?? docs ?? 'see its makers'}`];
  });
}

/** The version of the package that the program is a command of. */
export function packageVersion(path: string): string | undefined {
  let directory = dirname(realpathSync(path));
  for (let climbed = 0; climbed < MAX_CLIMB; climbed += 1, directory = dirname(directory)) {
    const file = join(directory, 'package.json');
    if (!existsSync(file)) continue;
    const { bin, version } = readMembers(file);
    if (bin !== undefined) return typeof version === 'string' ? version : undefined;
  }
  return undefined;
}

function readMembers(file: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
