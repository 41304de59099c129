/**
 * The recorded turns on runtimes that a program could notice: other languages, other clocks, other ways to run the same
 * code. The real program compiles them all in each, and gives the recorded bytes.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../setup/temp.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TURNS = join(ROOT, 'fixtures', 'turns');

let input = '';
let expected: readonly string[] = [];

beforeAll(() => {
  const turns = readdirSync(TURNS).sort().map((name) => JSON.parse(readFileSync(join(TURNS, name), 'utf8')) as { readonly output: unknown });
  input = join(temporaryDirectory(), 'turns.ndjson');
  writeFileSync(input, turns.map((turn) => `${JSON.stringify(turn)}\n`).join(''));
  expected = turns.map(({ output }) => JSON.stringify(output));
});

function compiled(flags: readonly string[], environment: NodeJS.ProcessEnv): { readonly status: number | null; readonly lines: readonly string[] } {
  const { status, stdout, stderr } = spawnSync(
    process.execPath, [...flags, join(ROOT, 'bin', 'skep.js'), 'compile', '--ndjson', input],
    { encoding: 'utf8', env: { PATH: process.env['PATH'], ...environment }, maxBuffer: 256 * 1024 * 1024 },
  );
  if (status !== 0) throw new Error(stderr);
  return { status, lines: stdout.split('\n').slice(0, -1) };
}

function exists(flag: string): boolean {
  return spawnSync(process.execPath, [flag, '-e', '0']).status === 0;
}

describe('the recorded turns are the same bytes', () => {
  it.each([
    ['LANG=C', { LANG: 'C', LC_ALL: 'C' }],
    ['LANG=tr_TR.UTF-8, where an i is no I', { LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' }],
    ['TZ=Pacific/Kiritimati, where it is tomorrow', { TZ: 'Pacific/Kiritimati' }],
  ])('under %s', (_, environment) => {
    expect(compiled([], environment)).toEqual({ status: 0, lines: expected });
  });

  it.each(['--no-opt', '--jitless', '--always-turbofan', '--stress-compaction'].filter(exists))('under %s', (flag) => {
    expect(compiled([flag], {})).toEqual({ status: 0, lines: expected });
  }, 120_000);
});

it('the settings are noticed by a program that looks', () => {
  const look = 'process.stdout.write(JSON.stringify([new Date(946728000000).getDate(), (1.5).toLocaleString(), typeof WebAssembly]))';
  const seen = (flags: readonly string[], env: NodeJS.ProcessEnv): unknown =>
    JSON.parse(spawnSync(process.execPath, [...flags, '-e', look], { encoding: 'utf8', env }).stdout);
  expect(seen([], { TZ: 'UTC', LC_ALL: 'C' })).toEqual([1, '1.5', 'object']);
  expect(seen([], { TZ: 'Pacific/Kiritimati', LC_ALL: 'C' })).toEqual([2, '1.5', 'object']);
  expect(seen([], { TZ: 'UTC', LC_ALL: 'tr_TR.UTF-8' })).toEqual([1, '1,5', 'object']);
  expect(seen(['--jitless'], { TZ: 'UTC', LC_ALL: 'C' })).toEqual([1, '1.5', 'undefined']);
});
