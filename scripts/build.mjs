#!/usr/bin/env node
/**
 * `npm run build`: `dist`, in two steps. The compiler writes each file with its types; then what is run from there (the
 * command line, the scripted agent, the demo's second broker) is packed with the libraries into a few files in
 * `dist/program`: an agent waits for `skep mcp`, and hundreds of small files take longer to load than a verb to run.
 * Exit 0, or the compiler's exit code after what it said.
 */
import { spawnSync } from 'node:child_process';
import { renameSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const PROGRAM = `${ROOT}dist/program`;
/** These have native parts, or files of their own that they look for beside themselves. */
const APART = ['libsql', 'pino', 'tiny-secp256k1', 'ws'];

const { status, error } = spawnSync(process.execPath, ['node_modules/typescript-native/bin/tsc', '-p', 'tsconfig.build.json'], { cwd: ROOT, stdio: 'inherit' });
if (error) throw error;
// With a type error the compiler has written its files all the same; whoever asks for the program may still want it.
await pack();
process.exitCode = status ?? 1;

/** Whole, or the one before: a program that runs meanwhile loads its parts by need. */
async function pack() {
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
  rmSync(PROGRAM, { recursive: true, force: true });
  renameSync(part, PROGRAM);
}
