#!/usr/bin/env node
/**
 * The launcher: checks the Node it runs on, builds the program where it was never built (a fresh clone installed
 * without scripts), and hands over. Plain JavaScript that an old Node can read.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`skep: needs Node 20.19 or newer, this is ${process.versions.node}\n`);
  process.exit(2);
}

const root = new URL('../', import.meta.url);
const program = new URL('dist/program/main.js', root);

if (!existsSync(program)) {
  const has = (path) => existsSync(new URL(path, root));
  if (!has('node_modules/typescript-native')) {
    const mend = has('scripts/build.mjs') ? `run npm ci in ${fileURLToPath(root)}` : 'install it again, with its scripts';
    process.stderr.write(`skep: not built; ${mend}\n`);
    process.exit(2);
  }
  process.stderr.write('skep: building once, this takes some seconds\n');
  const build = spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: fileURLToPath(root), stdio: ['ignore', 2, 2] });
  if (build.status !== 0) {
    process.stderr.write(`skep: the build failed; run npm ci && npm run build in ${fileURLToPath(root)}\n`);
    process.exit(1);
  }
}

const { main } = await import(program.href).catch(tooFewFiles);
await main(process.argv);

/**
 * The modules are read many at a time: it is here that a low limit of open files is met first, as whatever error the
 * module loader makes of it (EMFILE, or a module that is "not found"). src/cli/open-files.ts has the same rule.
 */
function tooFewFiles(error) {
  const needed = 256;
  const limit = process.report.getReport().userLimits?.open_files?.soft;
  if (error.code !== 'EMFILE' && error.code !== 'ENFILE' && !(Number(limit) < needed)) throw error;
  const found = error.code === 'ENFILE' ? 'the system has no open file left (ENFILE)' : `the limit of open files is ${limit}`;
  process.stderr.write(`skep: ${found}, too low: at least ${needed} are needed (ulimit -n)\n`);
  process.exit(5);
}
