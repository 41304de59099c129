/**
 * `skep explain`: what went into a turn, layer by layer, and which lines of what the agent reads each accounts for.
 * Every line belongs to one layer or to the frame around them.
 */
import type { Command } from 'commander';
import { turnOf, UNVERIFIED } from './compile.ts';
import { explainLines } from './explain-lines.ts';
import { explanationOf } from './explanation.ts';
import { write } from './output.ts';
import { tell } from './print.ts';
import { readSource } from './source.ts';

interface ExplainFlags {
  readonly json?: boolean;
  readonly unverified?: boolean;
}

export function explainVerb(program: Command): void {
  program
    .command('explain')
    .description('list the layers of a turn and the lines of its envelope and standing text that each accounts for')
    .argument('<file>', 'a turn input or a recorded turn; - reads stdin')
    .option('--json', 'the same as one JSON object on one line')
    .option('--unverified', 'do not check the ids and signatures of the events')
    .action(async (file: string, flags: ExplainFlags) => { await explain(file, flags); });
}

async function explain(file: string, flags: ExplainFlags): Promise<void> {
  if (flags.unverified === true) tell(UNVERIFIED);
  const explained = explanationOf(turnOf(file, await readSource(file), flags), flags.unverified !== true);
  const lines = flags.json === true ? [JSON.stringify(explained)] : explainLines(explained);
  await write(lines.map((line) => `${line}\n`).join(''));
}
