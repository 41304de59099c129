/** `skep status`: asks the running supervisor, and says what it answers. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { loadConfig } from '../config/index.ts';
import { askStatus, socketPathOf } from '../control/index.ts';
import { systemClock } from '../system/index.ts';
import { print } from './print.ts';
import { statusLines } from './status-lines.ts';

/** A report is made in memory; a supervisor that needs longer is stuck. */
const ANSWER_MS = 5_000;

interface StatusFlags {
  readonly config: string;
  readonly data?: string;
  readonly json?: boolean;
}

export function statusVerb(program: Command): void {
  program
    .command('status')
    .description('say how the running supervisor is doing')
    .option('-c, --config <file>', 'the config it runs', 'skep.yaml')
    .option('-d, --data <directory>', 'its data directory, instead of a config')
    .option('--json', 'the whole report as one JSON object')
    .action(tellStatus);
}

async function tellStatus({ config, data, json = false }: StatusFlags): Promise<void> {
  const directory = data === undefined ? loadConfig(config).dataDirectory : resolve(data);
  const report = await askStatus(socketPathOf(directory), ANSWER_MS);
  if (json) print(JSON.stringify(report));
  else for (const line of statusLines(report, systemClock.now())) print(line);
}
