/**
 * `skep compile`: a turn input, or a recorded turn, as the bytes an agent reads. What it prints is what `skep up` would
 * send: the same compiler, the same checks of the events. Exit 2 for an input that is refused.
 */
import type { Command } from 'commander';
import { Option } from 'commander';
import { compileTurn } from '../../compiler/index.ts';
import type { CompiledTurn, StandingRole, TurnInput } from '../../compiler/index.ts';
import { unreachable } from '../model/index.ts';
import { readTurn } from '../turn-file/index.ts';
import { write } from './output.ts';
import { tell } from './print.ts';
import { readLines, readSource, refusedInput } from './source.ts';

interface CompileFlags {
  readonly manifest?: boolean;
  readonly system?: boolean;
  readonly json?: boolean;
  readonly ndjson?: boolean;
  readonly unverified?: boolean;
}

/** Said once, on stderr, so that nobody takes an experiment for a proof. */
export const UNVERIFIED = 'no event was verified (--unverified)';

export function compileVerb(program: Command): void {
  program
    .command('compile')
    .description('print the envelope that a turn compiles to; its bytes are those before the last line break')
    .argument('<file>', 'a turn input or a recorded turn; - reads stdin')
    .addOption(new Option('--manifest', 'the manifest instead, as JSON').conflicts(['system', 'json', 'ndjson']))
    .addOption(new Option('--system', 'the standing text for the system role instead').conflicts(['json', 'ndjson']))
    .addOption(new Option('--json', 'the whole output as one JSON object on one line').conflicts('ndjson'))
    .option('--ndjson', 'a turn a line in, an output a line out, in order; stops at the first that is refused')
    .option('--unverified', 'do not check the ids and signatures of the events')
    .action(async (file: string, flags: CompileFlags) => { await compile(file, flags); });
}

async function compile(file: string, flags: CompileFlags): Promise<void> {
  if (flags.unverified === true) tell(UNVERIFIED);
  if (flags.ndjson === true) await compileLines(file, flags);
  else await write(rendered(turnOf(file, await readSource(file), flags), flags));
}

async function compileLines(file: string, flags: CompileFlags): Promise<void> {
  for await (const { text, line } of readLines(file)) {
    const compiled = compileTurn(turnOf(file, text, flags, line));
    if (!await write(`${JSON.stringify(compiled)}\n`)) return;
  }
}

/** `firstLine` is the line of the file where `text` begins. */
export function turnOf(file: string, text: string, { unverified = false }: { readonly unverified?: boolean }, firstLine = 1): TurnInput {
  const read = readTurn(text, { unverified });
  if (read.ok) return read.input;
  throw refusedInput(file, { ...read, line: firstLine - 1 + read.line });
}

function rendered(input: TurnInput, flags: CompileFlags): string {
  const compiled = compileTurn(input);
  if (flags.json === true) return `${JSON.stringify(compiled)}\n`;
  if (flags.manifest === true) return `${JSON.stringify(compiled.manifest, null, 2)}\n`;
  if (flags.system === true) return systemText(compiled, input.standingRole);
  return `${compiled.envelope}\n`;
}

function systemText({ system }: CompiledTurn, role: StandingRole): string {
  if (system !== undefined) return `${system}\n`;
  tell(`no system text: ${whyNone(role)}`);
  return '';
}

function whyNone(role: StandingRole): string {
  switch (role) {
    case 'system':
      return 'the turn has no standing text';
    case 'prompt':
      return 'this turn\'s standing text, if any, is the first block of its prompt (standingRole "prompt"; see --json)';
    case 'sent':
      return 'this session has read its standing text before (standingRole "sent")';
    default:
      return unreachable(role);
  }
}
