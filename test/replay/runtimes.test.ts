/**
 * The committed fixtures on runtimes that a program could notice: other languages, other clocks, other ways to run the
 * same code. The real program replays every turn and stream in each, and finds no byte that differs.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const COUNT = readdirSync(join(ROOT, 'fixtures'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.json')).length;
const PATIENCE_MS = 180_000;

/** The end of `skep replay --json`, or what it said when it had none. */
function replayed(flags: readonly string[], environment: NodeJS.ProcessEnv, ...more: readonly string[]): unknown {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, join(ROOT, 'bin', 'skep.js'), 'replay', '--json', ...more], {
    cwd: ROOT, encoding: 'utf8', env: { PATH: process.env['PATH'], ...environment }, maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`exit ${status ?? 'by a signal'}: ${stderr}${stdout.slice(-2_000)}`);
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
}

function exists(flag: string): boolean {
  return spawnSync(process.execPath, [flag, '-e', '0']).status === 0;
}

describe('the fixtures are the same, byte for byte,', () => {
  const same = { summary: { same: COUNT, different: 0, broken: 0, blessed: 0, tookMs: expect.any(Number) } };

  it.each([
    ['LANG=C', { LANG: 'C', LC_ALL: 'C' }],
    ['LANG=tr_TR.UTF-8, where an i is no I, and TZ=Pacific/Kiritimati, where it is tomorrow', { LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8', TZ: 'Pacific/Kiritimati' }],
  ])('under %s', (_, environment) => {
    expect(COUNT).toBeGreaterThan(100);
    expect(replayed([], environment)).toEqual(same);
  }, PATIENCE_MS);

  it.runIf(exists('--no-opt'))('under --no-opt', () => {
    expect(replayed(['--no-opt'], {})).toEqual(same);
  }, PATIENCE_MS);

  // One in four: each takes many times as long.
  it.each(['--jitless', '--always-turbofan'].filter(exists))('under %s', (flag) => {
    const { summary } = replayed([flag], {}, '--shard', '1/4') as typeof same;
    expect(summary).toEqual({ ...same.summary, same: Math.ceil(COUNT / 4), shard: '1/4' });
  }, PATIENCE_MS);
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
