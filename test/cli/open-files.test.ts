/** A start with few open files: it runs, or says in one line what is missing. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ofOpenFiles } from '../../src/cli/open-files.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import { LAUNCHER, runSkep } from './skep.ts';

/** Up to its first line about Ctrl-C, and then stopped; or to its own end. */
async function upWith(openFiles: number, cwd: string): Promise<{ readonly code: unknown; readonly ran: boolean; readonly told: string }> {
  const words = ['-c', `ulimit -n ${openFiles}; exec "$@"`, 'bash', process.execPath, LAUNCHER, 'up'];
  const child = spawn('bash', words, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  let told = '';
  let ran = false;
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => { told += chunk; });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk;
    if (ran || !said.includes('Ctrl-C stops')) return;
    ran = true;
    child.kill('SIGTERM');
  });
  await ended;
  return { code: child.exitCode, ran, told };
}

it.each([24, 28, 32, 48, 64, 96, 128, 256])('a start with %i open files ends in one line that names the limit, or runs', async (openFiles) => {
  const directory = temporaryDirectory();
  expect((await runSkep(['init'], directory)).code).toBe(0);
  const config = join(directory, 'skep.yaml');
  writeFileSync(config, readFileSync(config, 'utf8').replace(/port: \d+/, 'port: 0'));
  const { code, ran, told } = await upWith(openFiles, directory);
  // The controls: few are too few, and what is said to be enough is.
  if (openFiles <= 32) expect(ran).toBe(false);
  if (openFiles >= 256) expect(ran).toBe(true);
  expect(code).toBe(ran ? 0 : 5);
  const lines = told.trimEnd().split('\n');
  if (!ran) expect(lines.at(-1)).toMatch(new RegExp(`^skep: the limit of open files is ${openFiles}\\b.*\\(ulimit -n\\)$`));
  expect(lines.filter((line) => /^\s+at |bug/.test(line))).toEqual([]);
});

it.each([
  ['EMFILE', /^the limit of open files is \d+(?:, too low: at least 256 are| and is reached: more are) needed \(ulimit -n\)$/],
  ['ENFILE', /^the system has no open file left \(ENFILE\)/],
])('%s is a failure of its own, whoever met it', (code, message) => {
  const error = Object.assign(new Error('x'), { code });
  expect(ofOpenFiles(error)).toMatchObject({ code: 'open_files', message: expect.stringMatching(message), cause: error });
});

it.each(['ERR_MODULE_NOT_FOUND', 'storage_readonly', 'ENOENT', undefined])('%s is none where there are enough', (code) => {
  expect(ofOpenFiles(Object.assign(new Error('x'), { code }))).toBeUndefined();
});
