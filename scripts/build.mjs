#!/usr/bin/env node
/**
 * `npm run build`: `dist`, in two steps. The compiler writes each file with its types; then what is run from there (the
 * command line, the scripted agent, the demo's second broker) is packed with the libraries into a few files in
 * `dist/program`: an agent waits for `skep mcp`, and hundreds of small files take longer to load than a verb to run.
 * Of a tree that has not changed since, neither is done again: nearly every command of a newcomer's begins with this.
 * Exit 0, or the compiler's exit code after what it said.
 */
import { spawnSync } from 'node:child_process';
import { renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const PROGRAM = `${ROOT}dist/program`;
/** These have native parts, or files of their own that they look for beside themselves. */
const APART = ['libsql', 'pino', 'tiny-secp256k1', 'ws'];

const { status, error } = spawnSync(process.execPath, ['node_modules/typescript-native/bin/tsc', '-b', 'tsconfig.build.json'], { cwd: ROOT, stdio: 'inherit' });
if (error) throw error;
// With a type error the compiler has written its files all the same; whoever asks for the program may still want it.
if (!isPacked()) await pack();
process.exitCode = status ?? 1;

/** Since the compiler last wrote anything, with the libraries of today and by this file as it is. */
function isPacked() {
  const [packed, ...of] = [`${PROGRAM}/main.js`, `${ROOT}dist/.tsbuildinfo`, `${ROOT}package-lock.json`, fileURLToPath(import.meta.url)]
    .map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs);
  return packed !== undefined && of.every((changed) => changed !== undefined && changed < packed);
}

/** Whole, or the one before: a program that runs meanwhile loads its parts by need. */
async function pack() {
  const began = new Date();
  // It takes a while to load.
  const { rolldown } = await import('rolldown');
  const bundle = await rolldown({
    input: {
      'main': `${ROOT}dist/src/cli/main.js`,
      'lone-broker': `${ROOT}dist/src/cli/demo/lone-broker.js`,
      'scripted': `${ROOT}dist/adapters/scripted/main.js`,
    },
    platform: 'node', external: APART, logLevel: 'warn',
  });
  const part = `${PROGRAM}.${process.pid}`;
  await bundle.write({ dir: part, format: 'esm' });
  await bundle.close();
  // What the compiler writes meanwhile is newer.
  utimesSync(`${part}/main.js`, began, began);
  rmSync(PROGRAM, { recursive: true, force: true });
  renameSync(part, PROGRAM);
}
