/** `bin/skep.js` where the program was never built: it builds it once, or says what to do. */
import { copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
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
    compilerOptions: { rootDir: '.', outDir: 'dist', module: 'NodeNext', target: 'ES2023', types: [] }, include: ['adapters', 'src'],
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
});
