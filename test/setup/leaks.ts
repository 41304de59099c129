/**
 * After each test file nothing of it is left: no child process, socket, server, timer, nothing in the temporary directory,
 * and the environment, the clock and the working directory are what they were: the worker goes on to the next file. Runs
 * after every hook of the test file itself.
 *
 * Closing a socket or reaping a child takes the event loop a few turns, so the check polls until all is gone and fails
 * only after a bound. It counts what keeps the event loop alive, above what the test runner itself held before.
 */
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, vi } from 'vitest';
import { removeTemporaryDirectories } from './temp.ts';
import { armedTimers, watchTimers } from './timers.ts';

/** How long a leftover may take to go; the check's own test shortens it. */
const BOUND_MS = Number(process.env['SKEP_TEST_LEAK_BOUND_MS'] ?? 5_000);
const POLL_MS = 20;
/** What a test can leave behind. Others (file reads, immediates, the runner's messages) end by themselves. */
const WATCHED: ReadonlySet<string> = new Set([
  'ProcessWrap', 'TCPSocketWrap', 'TCPServerWrap', 'PipeWrap', 'PipeServerWrap', 'TLSWrap', 'UDPWrap',
  'FSEventWrap', 'Worker', 'SignalWrap',
]);

// Taken before the test file is loaded, so that a test with fake timers cannot stop the check.
const { setTimeout: wait, Date: clock } = globalThis;
const outside = process.env['TMPDIR'];
const home = mkdtempSync(join(realpathSync(tmpdir()), 'skep-'));
// Everything this file and its children make in the temporary directory is then seen, whoever made it.
process.env['TMPDIR'] = home;

watchTimers();

/** What there was already: the runner's, and what an earlier file of this worker left and was failed for. */
interface Before {
  readonly resources: ReadonlyMap<string, number>;
  readonly timers: ReadonlyMap<NodeJS.Timeout, string>;
  readonly children: readonly string[];
  readonly environment: Readonly<NodeJS.ProcessEnv>;
  readonly folder: string;
}

// Also before the test file is loaded: what it arms as it is loaded is its own.
const before: Before = { resources: resources(), timers: armedTimers(), children: children(), environment: { ...process.env }, folder: process.cwd() };

afterAll(async () => {
  const deadline = clock.now() + BOUND_MS;
  let left = leftBehind(before);
  while (left.length > 0 && clock.now() < deadline) {
    await new Promise((resolve) => wait(resolve, POLL_MS));
    left = leftBehind(before);
  }
  await removeTemporaryDirectories();
  left.push(...readdirSync(home).map((name) => `${join(home, name)} in the temporary directory`));
  rmSync(home, { recursive: true, force: true, maxRetries: 3 });
  if (outside === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = outside;
  // The next file has no part in it.
  vi.useRealTimers();
  process.chdir(before.folder);
  if (left.length > 0) throw new Error(`left behind by this test file: ${left.join('; ')}`);
}, BOUND_MS + 10_000);

function leftBehind(earlier: Before): string[] {
  const left: string[] = [];
  for (const [type, count] of resources()) {
    const more = count - (earlier.resources.get(type) ?? 0);
    if (more > 0) left.push(`${more} ${type}`);
  }
  for (const [timer, callback] of armedTimers()) if (!earlier.timers.has(timer)) left.push(`timer ${callback}`);
  for (const pid of children()) if (!earlier.children.includes(pid)) left.push(`child process ${pid}`);
  const names = new Set([...Object.keys(earlier.environment), ...Object.keys(process.env)]);
  for (const name of names) if (earlier.environment[name] !== process.env[name]) left.push(`${name} in the environment`);
  if (process.cwd() !== earlier.folder) left.push('another working directory');
  if (vi.isFakeTimers()) left.push('a false clock');
  return left;
}

function resources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const type of process.getActiveResourcesInfo()) {
    if (WATCHED.has(type)) counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  return counts;
}

/** Children that were unref'd, or not reaped, do not hold the event loop: Linux tells them all. */
function children(): readonly string[] {
  try {
    return readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').filter((pid) => pid !== '');
  } catch {
    return [];
  }
}
