#!/usr/bin/env node
/**
 * `npm run test:real [-- name ...]`: test/real on stock agent programs, by default all of test/real/packages.json. They
 * are no dependencies: npm fetches the pinned versions into a cache of the user's ($SKEP_AGENTS, else skep/agents in
 * $XDG_CACHE_HOME or ~/.cache), and a program that cannot be had is skipped with the reason. The tests then run in a
 * network of their own with nothing but loopback in it, where the system allows that; else it is said that they do not.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const PACKAGES = JSON.parse(readFileSync(join(ROOT, 'test', 'real', 'packages.json'), 'utf8'));
const CACHE = process.env.SKEP_AGENTS ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'skep', 'agents');
/** After this long the registry is taken for one that cannot be reached: the four programs are 400 MB to fetch. $SKEP_FETCH_MS, milliseconds, sets another bound. */
const FETCH_MS = Number(process.env.SKEP_FETCH_MS ?? 180_000);
/** The versions are pinned, so what npm has it need not ask for; a registry that does not answer is asked again soon. */
const NPM_OPTIONS = ['--prefer-offline', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=5000', '--no-audit', '--no-fund', '--loglevel=error'];
/** Brings loopback up, then becomes what it is given. */
const ALONE = 'ip link set lo up && exec "$@"';

const names = process.argv.slice(2).length > 0 ? process.argv.slice(2) : Object.keys(PACKAGES);
const strange = names.find((name) => !Object.hasOwn(PACKAGES, name));
if (strange !== undefined) {
  console.error(`test:real: there is no ${JSON.stringify(strange.slice(0, 40))}, expected ${Object.keys(PACKAGES).join(', ')}`);
  process.exit(2);
}
const there = await Promise.all(names.map(fetched));
const here = names.filter((_, index) => there[index]);
if (here.length === 0) {
  console.log('test:real: nothing to test');
  process.exit(0);
}
const [command, ...before] = aloneness();
const files = here.map((name) => `test/real/${name}.test.ts`);
const { status } = spawnSync(
  command, [...before, process.execPath, 'node_modules/vitest/vitest.mjs', 'run', '--config', 'vitest.real.config.ts', ...files],
  { cwd: ROOT, stdio: 'inherit' },
);
process.exit(status ?? 1);

/** Whether the program is there, after an attempt to fetch it where it is not. */
async function fetched(name) {
  const { package: title, version } = PACKAGES[name];
  const folder = join(CACHE, `${name}-${version}`);
  if (existsSync(folder)) return true;
  console.log(`test:real: fetching ${title}@${version} into ${folder}`);
  const beganMs = performance.now();
  // Whole, or not there: an earlier run may have been interrupted.
  const part = `${folder}.${process.pid}`;
  try {
    mkdirSync(part, { recursive: true });
    writeFileSync(join(part, 'package.json'), '{ "private": true }');
    const why = await whyNotInstalled(part, `${title}@${version}`);
    if (why !== undefined) {
      console.log(`test:real: skipped: ${name}: ${title}@${version} cannot be fetched: ${why}`);
      return false;
    }
    renameSync(part, folder);
    console.log(`test:real: fetched ${title}@${version} in ${Math.round((performance.now() - beganMs) / 1000)} s`);
    return true;
  } catch (error) {
    console.log(`test:real: skipped: ${name}: ${CACHE}: ${error.message}`);
    return false;
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
}

async function whyNotInstalled(folder, wanted) {
  // In a group of its own, to be ended with whatever it started.
  const npm = spawn('npm', ['install', ...NPM_OPTIONS, wanted], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  let isOver = false;
  const bound = setTimeout(() => {
    isOver = true;
    process.kill(-npm.pid, 'SIGKILL');
  }, FETCH_MS);
  const said = text(npm.stderr);
  try {
    const [status, signal] = await once(npm, 'close');
    if (status === 0) return undefined;
    if (isOver) return `it took longer than ${FETCH_MS / 1000} s`;
    return signal === null ? firstLine(await said) : `npm was ended by ${signal}`;
  } catch (error) {
    return error.message;
  } finally {
    clearTimeout(bound);
  }
}

/** The words before a command that runs it with nothing but loopback. */
function aloneness() {
  const ways = [['unshare', '-n'], ['unshare', '-rn']].map((way) => [...way, 'sh', '-c', ALONE, 'sh']);
  const way = ways.find(([program, ...args]) => spawnSync(program, [...args, 'true']).status === 0);
  console.log(way === undefined ? 'test:real: with the network of this machine: it allows none of its own' : `test:real: with nothing but loopback (${way.slice(0, 2).join(' ')})`);
  return way ?? ['env'];
}

/** What npm says in words, without its lines of codes. */
function firstLine(words) {
  const lines = words.split('\n').map((line) => line.replace(/^npm (?:error|ERR!) ?/, '').trim());
  return lines.find((line) => line !== '' && !/^(?:code|syscall|errno|address|port) /.test(line)) ?? 'no word why';
}
