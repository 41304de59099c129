/** `skep/compiler` as somebody gets it who has the packed package and nothing else. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import * as compiler from '../../compiler/index.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import { triggeredOf, turnOf } from './turns.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const INPUT = turnOf({ events: [triggeredOf({ content: 'a < b' })], standing: { base: 'b' }, standingRole: 'prompt' });

let home = '';

function run(command: string, args: readonly string[], cwd: string): string {
  const env = { PATH: process.env['PATH'], HOME: home, npm_config_cache: join(home, 'cache'), npm_config_update_notifier: 'false' };
  const child = spawnSync(command, args, { cwd, env, encoding: 'utf8' });
  if (child.status !== 0) throw new Error(`${command}: ${child.stdout}${child.stderr}${child.error?.message ?? ''}`);
  return child.stdout;
}

beforeAll(() => {
  home = temporaryDirectory();
  // Without its scripts: `dist` is built already.
  run('npm', ['pack', '--ignore-scripts', '--pack-destination', home], ROOT);
  const tarball = readdirSync(home).find((name) => name.endsWith('.tgz')) ?? 'none';
  const installed = join(home, 'node_modules', 'skep');
  mkdirSync(installed, { recursive: true });
  run('tar', ['-xzf', join(home, tarball), '-C', installed, '--strip-components=1'], home);
}, 120_000);

test('it compiles the same turn to the same bytes, with no other package there', () => {
  expect(readdirSync(join(home, 'node_modules'))).toEqual(['skep']);
  writeFileSync(
    join(home, 'use.mjs'),
    `import * as compiler from 'skep/compiler';
     const parsed = compiler.parseTurnText(${JSON.stringify(JSON.stringify(INPUT))});
     console.log(JSON.stringify([Object.keys(compiler).sort(), compiler.compileTurn(parsed.input)]));`,
  );
  const printed = run(process.execPath, ['use.mjs'], home);
  expect(printed).toBe(`${JSON.stringify([Object.keys(compiler).sort(), compiler.compileTurn(INPUT)])}\n`);
});

test('its types hold under the strictest settings, with no types of Node there', { timeout: 120_000 }, () => {
  writeFileSync(
    join(home, 'use.ts'),
    `import { appendSteer, compileSteer, compileTurn, ledgerManifest, openLedger, parseTurnInput } from 'skep/compiler';
     import type { CompiledTurn, Manifest, TurnInput, TurnRefusal } from 'skep/compiler';
     export function compiled(value: unknown): CompiledTurn | TurnRefusal {
       const parsed = parseTurnInput(value);
       return parsed.ok ? compileTurn(parsed.input) : parsed;
     }
     export function after(turn: TurnInput, steer: TurnInput): Manifest {
       return ledgerManifest(appendSteer(openLedger(compileTurn(turn).manifest), compileSteer(steer).layers));
     }
     // @ts-expect-error A closed format: nothing is ever null.
     export const wrong: TurnInput = { v: 1, channelId: '', events: [], standingRole: 'sent', channel: null };
     // @ts-expect-error A value is not a turn before it is read.
     export const unread = (value: unknown): CompiledTurn => compileTurn(value);
     export type { TurnInput };\n`,
  );
  const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, skipLibCheck: false };
  const compilerOptions = { ...strict, target: 'es2022', module: 'nodenext', types: [], noEmit: true };
  writeFileSync(join(home, 'package.json'), '{"type":"module"}');
  writeFileSync(join(home, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }));
  run(process.execPath, [join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', home], home);
});

test('the page names every function that it exports, and none that it does not', () => {
  const page = readFileSync(join(home, 'node_modules', 'skep', 'docs', 'compiler.md'), 'utf8');
  const section = page.slice(page.indexOf('## Functions'), page.indexOf('A **refusal** is'));
  const named = [...section.matchAll(/^\| `(\w+)\(/gm)].map((match) => match[1]);
  expect(named.sort()).toEqual(Object.keys(compiler).sort());
});
