/** The command line itself: help, version, mistakes, exit codes. */
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { FAILURES } from '../../src/model/index.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import { LAUNCHER, runSkep, stopAll } from './skep.ts';

afterEach(stopAll);

const ROOT = new URL('../../', import.meta.url);
const VERBS = ['init', 'up', 'status', 'restart', 'session', 'owner', 'persona', 'instructions', 'team', 'launch', 'relay', 'demo', 'call', 'mcp', 'compile', 'explain', 'replay'];

describe('help', () => {
  it('names every verb and every exit code', async () => {
    const { code, stdout, stderr } = await runSkep(['--help'], temporaryDirectory());
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const verb of VERBS) expect(stdout).toMatch(new RegExp(`^ {2}${verb}\\b`, 'm'));
    for (const { exit } of Object.values(FAILURES)) expect(stdout).toMatch(new RegExp(`^ {2}${exit} `, 'm'));
  });

  it.each(VERBS)('is there for %s, in both spellings', async (verb) => {
    const directory = temporaryDirectory();
    const [flag, word] = await Promise.all([runSkep([verb, '--help'], directory), runSkep(['help', verb], directory)]);
    expect(flag.stdout).toContain(`Usage: skep ${verb}`);
    expect(word).toEqual(flag);
  });

  it.each<readonly [readonly string[], readonly string[]]>([
    [['owner', 'usage'], ['(default: 30d)', '(default: agent,model,day)']],
    ...['approve', 'deny', 'cancel', 'model'].map((verb) => [['owner', verb], ['(default: 10s)']] as const),
  ])('of %j shows defaults as its flags take them', async (words, defaults) => {
    const { stdout } = await runSkep([...words, '--help'], temporaryDirectory());
    const text = stdout.replace(/\s+/g, ' ');
    for (const one of defaults) expect(text).toContain(one);
  });

  it('is shown, as a mistake, for no words at all', async () => {
    const { code, stdout, stderr } = await runSkep([], temporaryDirectory());
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('Usage: skep');
  });
});

it('prints the version of the package', async () => {
  const { version } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as { readonly version: string };
  expect(await runSkep(['--version'], temporaryDirectory())).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
});

it('documents every exit code', () => {
  const page = readFileSync(new URL('docs/operations.md', ROOT), 'utf8');
  for (const { exit } of Object.values(FAILURES)) expect(page).toContain(`| ${exit} |`);
});

describe('a mistake is one line and exit code 2', () => {
  it.each([
    [['stauts'], 'unknown command \'stauts\' (Did you mean status?); see skep --help'],
    [['help', 'stauts'], 'unknown command \'stauts\' (Did you mean status?); see skep --help'],
    [['help', 'bogus'], 'unknown command \'bogus\'; see skep --help'],
    [['session', 'bogus'], 'unknown command \'bogus\'; see skep session --help'],
    [['--bogus'], 'unknown option \'--bogus\'; see skep --help'],
    [['up', '--bogus'], 'unknown option \'--bogus\'; see skep up --help'],
    [['up', 'extra'], 'too many arguments for \'up\'. Expected 0 arguments but got 1.; see skep up --help'],
    [['up', '-c'], 'option \'-c, --config <file>\' argument missing; see skep up --help'],
    [['up', '--log-level', 'loud'], 'option \'--log-level <level>\' argument \'loud\' is invalid. Allowed choices are debug, info, warn, error, silent.; see skep up --help'],
    [['relay', '--port', '65536'], 'option \'-p, --port <number>\' argument \'65536\' is invalid. expected a whole number 0..65535; see skep relay --help'],
    [['relay', '--port', '-1'], 'option \'-p, --port <number>\' argument \'-1\' is invalid. expected a whole number 0..65535; see skep relay --help'],
    [['replay', '--shard', '0/2'], 'option \'--shard <i/n>\' argument \'0/2\' is invalid. expected i/n with i from 1 to n; see skep replay --help'],
    [['up'], 'config: skep.yaml does not exist; skep init writes one'],
    [['status'], 'config: skep.yaml does not exist; skep init writes one'],
    [['session', 'list'], 'config: skep.yaml does not exist; skep init writes one'],
    [['session', 'issue'], 'required option \'--agent <name>\' not specified; see skep session issue --help'],
    [['session', 'issue', '--agent', 'a', '--expires', 'soon'], 'option \'--expires <duration>\' argument \'soon\' is invalid. expected a duration like 12h or 90d, or never; see skep session issue --help'],
  ])('%j', async (args, line) => {
    expect(await runSkep(args, temporaryDirectory())).toEqual({ code: 2, stdout: '', stderr: `skep: ${line}\n` });
  });
});

it('status says when nobody runs', async () => {
  const directory = temporaryDirectory();
  expect(await runSkep(['status', '--data', 'here'], directory)).toEqual({
    code: 7, stdout: '', stderr: `skep: ${join(directory, 'here', 'skep.sock')}: no supervisor is running here; start one with skep up\n`,
  });
});

describe.runIf(existsSync('/dev/full'))('an answer that the disk does not take', () => {
  it.each(['adapters', '--version', 'help compile'])('is a failure: skep %s', (words) => {
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(process.execPath, [LAUNCHER, ...words.split(' ')], { stdio: ['ignore', full, 'pipe'], encoding: 'utf8' });
    closeSync(full);
    expect({ status, stderr }).toEqual({ status: 5, stderr: 'skep: stdout: ENOSPC: no space left on device, write\n' });
  });

  it('is told also where the answer is a no, whose code stays', async () => {
    const directory = temporaryDirectory();
    await runSkep(['init'], directory);
    const config = join(directory, 'skep.yaml');
    writeFileSync(config, readFileSync(config, 'utf8').replace('adapter: scripted', 'adapter: { command: ./none }'));
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(process.execPath, [LAUNCHER, 'launch', 'plan', 'helper'], { cwd: directory, stdio: ['ignore', full, 'pipe'], encoding: 'utf8' });
    closeSync(full);
    expect({ status, stderr }).toEqual({ status: 1, stderr: 'skep: stdout: ENOSPC: no space left on device, write\n' });
  });
});
