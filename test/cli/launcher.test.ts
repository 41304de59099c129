/** `bin/skep.js` where the program was never built: it builds it once, or says what to do. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../setup/temp.ts';
import { LAUNCHER, startSkep, stopAll } from './skep.ts';

afterEach(stopAll);

const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url));

/** A package with the real launcher and a program of one line, not built. */
function freshPackage(program: string): string {
  const root = temporaryDirectory();
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  };
  write('package.json', '{ "type": "module" }');
  write('src/cli/main.ts', program);
  for (const other of ['src/cli/demo/lone-broker.ts', 'adapters/scripted/main.ts']) write(other, 'export {};\n');
  write('tsconfig.build.json', JSON.stringify({
    compilerOptions: { rootDir: '.', outDir: 'dist', module: 'NodeNext', target: 'ES2023', types: [], rewriteRelativeImportExtensions: true }, include: ['adapters', 'src'],
  }));
  mkdirSync(join(root, 'bin'));
  copyFileSync(LAUNCHER, join(root, 'bin', 'skep.js'));
  mkdirSync(join(root, 'scripts'));
  copyFileSync(fileURLToPath(new URL('../../scripts/build.mjs', import.meta.url)), join(root, 'scripts', 'build.mjs'));
  return root;
}

describe('the launcher', () => {
  it('builds once, from any folder, and says so on stderr', async () => {
    const root = freshPackage('export function main(argv: string[]): void { globalThis["process"].stdout.write(argv.slice(2).join()); }\n'
      .replace('globalThis["process"]', '(globalThis as unknown as { process: { stdout: { write(text: string): void } } }).process'));
    symlinkSync(MODULES, join(root, 'node_modules'));
    const elsewhere = temporaryDirectory();
    const run = () => startSkep(['a', 'b'], elsewhere, join(root, 'bin', 'skep.js')).ended;
    expect(await run()).toEqual({ code: 0, stdout: 'a,b', stderr: 'skep: building once, this takes some seconds\n' });
    expect(await run()).toEqual({ code: 0, stdout: 'a,b', stderr: '' });
  });

  it('says what failed when it cannot build', async () => {
    const root = freshPackage('export const main: number = "no number";\n');
    symlinkSync(MODULES, join(root, 'node_modules'));
    const { code, stdout, stderr } = await startSkep([], root, join(root, 'bin', 'skep.js')).ended;
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('src/cli/main.ts(1,14): error');
    expect(stderr).toMatch(/\nskep: the build failed; run npm ci && npm run build in .*\n$/);
  });

  it('says what to install when it cannot even try', async () => {
    const root = freshPackage('');
    const ended = await startSkep([], root, join(root, 'bin', 'skep.js')).ended;
    expect(ended).toEqual({ code: 2, stdout: '', stderr: `skep: not built; run npm ci in ${root}/\n` });
    expect(existsSync(join(root, 'dist'))).toBe(false);
  });

  it('says to install again where the package came without its sources and was not built', async () => {
    const root = freshPackage('');
    rmSync(join(root, 'scripts'), { recursive: true });
    expect(await startSkep([], root, join(root, 'bin', 'skep.js')).ended).toEqual({ code: 2, stdout: '', stderr: 'skep: not built; install it again, with its scripts\n' });
  });

  it('is built anew for a source that is older than the build, not for the same sources, and keeps what a running program may still load', () => {
    const root = freshPackage('export const main = "one";\n');
    symlinkSync(MODULES, join(root, 'node_modules'));
    const source = join(root, 'src', 'cli', 'main.ts');
    const program = join(root, 'dist', 'program', 'main.js');
    const build = (): number => {
      expect(spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: root })).toMatchObject({ status: 0 });
      return statSync(program).ino;
    };
    const first = build();
    expect(build()).toBe(first);
    writeFileSync(source, `export const main = () => import('./part.ts');\n`);
    writeFileSync(join(root, 'src', 'cli', 'part.ts'), 'export const part = "two";\n');
    utimesSync(source, 1, 1);
    expect(build()).not.toBe(first);
    const partOf = (): string => readFileSync(program, 'utf8').match(/part-[\w-]+\.js/)?.[0] ?? expect.fail('no part');
    const old = partOf();
    writeFileSync(join(root, 'src', 'cli', 'part.ts'), 'export const part = "three";\n');
    build();
    expect(partOf()).not.toBe(old);
    expect(existsSync(join(root, 'dist', 'program', old))).toBe(true);
    writeFileSync(join(root, 'src', 'cli', 'part.ts'), 'export const part = "four";\n');
    build();
    expect(existsSync(join(root, 'dist', 'program', old))).toBe(false);
  });
});
