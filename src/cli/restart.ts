/** `skep restart`: one agent of the running supervisor ends and is started again, with what its owner says now. */
import type { Command } from 'commander';
import { loadConfig } from '../config/index.ts';
import { askRestart, socketPathOf } from '../control/index.ts';
import { askedAs } from './agent-named.ts';
import { print, safe } from './print.ts';

/** What its owner says is read from a relay, and perhaps a signer, before the turns in flight are given their time. */
const READ_MS = 120_000;

interface Flags {
  readonly config: string;
}

export function restartVerb(program: Command): void {
  program
    .command('restart')
    .description('end one agent of the running supervisor and start it again, with what its owner says now')
    .argument('<agent>', 'its name, its npub or hex')
    .option('-c, --config <file>', 'the config of the running supervisor', 'skep.yaml')
    .addHelpText('after', `
Turns in flight get the config's grace, then are cut short and come back. The other agents run on. An agent that could
not be started with what its owner says now is left as it is (exit code 15). Changes of the config itself need skep up.`)
    .action(async (agent: string, flags: Flags) => {
      const { dataDirectory, graceMs } = loadConfig(flags.config);
      await askRestart(socketPathOf(dataDirectory), askedAs(agent), READ_MS + graceMs);
      print(`${safe(agent)} starts again`);
    });
}
