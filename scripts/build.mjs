#!/usr/bin/env node
/**
 * `npm run build`: `dist`, in two steps. The compiler writes each file with its types; then what is run from there (the
 * command line, the scripted agent, the demo's second broker) is packed with the libraries into a few files in
 * `dist/program`: an agent waits for `skep mcp`, and hundreds of small files take longer to load than a verb to run.
 * Of sources that have not changed since, neither is done again: nearly every command of a newcomer's begins with this.
 * Exit 0, or the compiler's exit code after what it said.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const PROGRAM = join(ROOT, 'dist', 'program');
/** Where a build puts its files before they are in use; what a build that was killed left there goes with the next. */
const PART = join(ROOT, 'dist', '.program');
/** What the last build was made of, and the files it came to. */
const STAMP = join(ROOT, 'dist', '.built.json');
const ENTRIES = { 'main': 'dist/src/cli/main.js', 'lone-broker': 'dist/src/cli/demo/lone-broker.js', 'scripted': 'dist/adapters/scripted/main.js' };
/** These have native parts, or files of their own that they look for beside themselves. */
const EXTERNAL_PACKAGES = ['libsql', 'pino', 'tiny-secp256k1', 'ws'];
const SOURCES = ['adapters', 'compiler', 'src'];
const OTHER_INPUTS = ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts/build.mjs', 'node_modules/.package-lock.json'];

const before = lastBuild();
const hash = inputsHash();
if (before.hash !== hash || before.files.some((name) => !existsSync(join(PROGRAM, name)))) await build();

async function build() {
  const { status, error } = spawnSync(process.execPath, ['node_modules/typescript-native/bin/tsc', '-p', 'tsconfig.build.json'], { cwd: ROOT, stdio: 'inherit' });
  if (error) throw error;
  // With a type error the compiler has written its files all the same; whoever asks for the program may still want it.
  const files = await pack();
  writeFileSync(STAMP, JSON.stringify({ hash: status === 0 ? hash : '', files }));
  process.exitCode = status ?? 1;
}

/** By what the files hold: a copy or an unpacked archive may be older than what was built before it. */
function inputsHash() {
  const files = SOURCES.filter((folder) => existsSync(join(ROOT, folder)))
    .flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true }).map((name) => join(folder, name)).filter((name) => name.endsWith('.ts')));
  const sum = createHash('sha256');
  for (const name of [...files.sort(), ...OTHER_INPUTS]) {
    const path = join(ROOT, name);
    sum.update(`${name}\0`).update(existsSync(path) ? readFileSync(path) : '').update('\0');
  }
  return sum.digest('hex');
}

function lastBuild() {
  try {
    return JSON.parse(readFileSync(STAMP, 'utf8'));
  } catch {
    return { hash: undefined, files: [] };
  }
}

/**
 * Returns the names of the program's files. A program that has just begun still finds what it loads by need: each part is
 * named by what it holds and stays for one build longer, and the files that name the parts are changed last, each at once.
 */
async function pack() {
  // It takes a while to load.
  const { rolldown } = await import('rolldown');
  const input = Object.fromEntries(Object.entries(ENTRIES).map(([name, path]) => [name, join(ROOT, path)]));
  const bundle = await rolldown({ input, platform: 'node', external: EXTERNAL_PACKAGES, logLevel: 'warn' });
  rmSync(PART, { recursive: true, force: true });
  const { output } = await bundle.write({ dir: PART, format: 'esm' });
  await bundle.close();
  writeFileSync(join(PART, 'THIRD-PARTY.txt'), licences(output.flatMap(({ moduleIds = [] }) => moduleIds)));
  mkdirSync(PROGRAM, { recursive: true });
  const entries = Object.keys(ENTRIES).map((name) => `${name}.js`);
  const parts = readdirSync(PART).filter((name) => !entries.includes(name));
  for (const name of [...parts, ...entries]) renameSync(join(PART, name), join(PROGRAM, name));
  rmSync(PART, { recursive: true });
  const files = [...parts, ...entries];
  for (const name of readdirSync(PROGRAM)) if (!files.includes(name) && !before.files.includes(name)) rmSync(join(PROGRAM, name));
  return files;
}

/** The packages whose code is in the program, each with its licence. */
function licences(modules) {
  const folders = new Set(modules.map((path) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path.replaceAll('\\', '/'))?.[0]).filter((folder) => folder !== undefined));
  return [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    return `${name} ${version}: ${license}\n\n${file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim()}\n`;
  }).join(`\n${'-'.repeat(80)}\n\n`);
}
