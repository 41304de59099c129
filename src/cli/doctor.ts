/**
 * `skep doctor`: is everything there that skep needs? With the name of an agent, or of a known agent program: does that one
 * start, what can it do, will it ask, and what is to be mended? Leaves nothing running and nothing behind.
 */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { adapterNames, findAdapter } from '../../adapters/index.ts';
import { loadConfig } from '../config/index.ts';
import { Failure } from '../model/index.ts';
import { examine } from './doctor/agent.ts';
import type { Examination, Patient } from './doctor/agent.ts';
import { exitCodeFor, printFindings } from './doctor/finding.ts';
import { examinePlace } from './doctor/place.ts';
import { plural, print, safe } from './print.ts';
import { exitCodeFor as exitCodeOfSignal, watchSignals } from './signals.ts';

interface DoctorFlags {
  readonly config: string;
  readonly json?: boolean;
}

export function doctorVerb(program: Command): void {
  program
    .command('doctor')
    .description('look whether everything is there that skep needs; with a name, start that agent program and look at it')
    .argument('[agent]', 'an agent of the config, or a name of skep adapters')
    .option('-c, --config <file>', 'the config file', 'skep.yaml')
    .option('--json', 'as one JSON object')
    .addHelpText('after', '\nExit codes: 0 nothing is wrong, 1 something is (each with its mend), 2 there is no such agent, or the config cannot be used')
    .action(async (agent: string | undefined, flags: DoctorFlags) => {
      process.exitCode = await (agent === undefined ? ofPlace(flags) : ofAgent(agent, flags));
    });
}

async function ofPlace({ config, json = false }: DoctorFlags): Promise<number> {
  const findings = await examinePlace(loadConfig(config));
  if (json) print(JSON.stringify({ findings }));
  else printFindings(findings);
  return exitCodeFor(findings);
}

async function ofAgent(name: string, { config, json = false }: DoctorFlags): Promise<number> {
  const patient = patientOf(name, config);
  const giveUp = new AbortController();
  const unwatch = watchSignals({
    first: (signal) => {
      process.exitCode = exitCodeOfSignal(signal);
      giveUp.abort();
    },
    second: (signal) => process.exit(exitCodeOfSignal(signal)),
  });
  try {
    const examination = await examine(patient, giveUp.signal);
    if (json) print(JSON.stringify(examination));
    else printExamination(examination);
    return giveUp.signal.aborted && typeof process.exitCode === 'number' ? process.exitCode : exitCodeFor(examination.findings);
  } finally {
    unwatch();
  }
}

/** An agent of the config goes before a program of the same name. */
function patientOf(name: string, file: string): Patient {
  const agents = existsSync(file) ? loadConfig(file).agents : [];
  const agent = agents.find((one) => one.name === name);
  if (agent !== undefined) return agent;
  const adapter = findAdapter(name);
  if (adapter !== undefined) return { name, adapter, args: [], env: {}, cwd: process.cwd() };
  const known = [...agents.map((one) => one.name), ...adapterNames].join(', ');
  throw new Failure('usage', `no agent "${safe(name)}"; there are ${known}`);
}

function printExamination({ facts, memoryBytes, processes, findings }: Examination): void {
  printFindings(findings);
  if (facts === undefined) return;
  const { program, load, resume, close, prompt, mcp, steering, logins, mode, modes, model, models, effort, efforts } = facts;
  const sessions = [...(load ? ['load'] : []), ...(resume ? ['resume'] : []), ...(close ? ['close'] : [])];
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ['calls itself', program === '' ? [] : [program]],
    ['sessions', sessions],
    ['prompt', prompt],
    ['mcp beside stdio', mcp],
    ['steering', steering ? ['yes'] : []],
    ['logins', logins],
    ['mode', mode === undefined ? [] : [mode]],
    ['modes', modes],
    ['model', model === undefined ? [] : [model]],
    ['models', models],
    ['effort', effort === undefined ? [] : [effort]],
    ['efforts', efforts],
    ['memory', memoryBytes === undefined ? [] : [`${Math.ceil(memoryBytes / 1024 ** 2)} MiB in ${plural(processes ?? 1, 'process')}`]],
  ];
  print();
  for (const [name, words] of rows) print(`  ${name.padEnd(17)} ${words.length === 0 ? '-' : safe(words.join(', '))}`);
}
