/**
 * Plants the faults of `compiler-faults.ts` in the compiler, one at a time, and runs its tests against each:
 * `npm run mutate`, or `npm run mutate -- <word...>` for the faults whose name holds one of the words.
 * A fault is to be caught twice: by the tests without the twin, and by the twin alone, unless no output shows it.
 * in: this tree, of which it works on copies in the temporary directory. out: a line a fault.
 * Exit 1: a fault survives, or its text is not found; 2: the tests fail with no fault planted. Two at once.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FAULTS } from './compiler-faults.ts';
import type { Fault } from './compiler-faults.ts';
import { plant } from './plant.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const AT_ONCE = 2;
const TWIN_TURNS = '2000';

// The tests that need neither the built package nor minutes.
const TABLES = [
  'account', 'boundaries', 'envelope', 'input', 'json', 'ledger', 'manifest', 'people', 'purity', 'replay', 'routing', 'standing',
  'text', 'threads',
].map((name) => `test/compiler/${name}.test.ts`);
const TWIN = ['test/compiler/twin-first-half.test.ts', '-t', 'agree on'];

const CONFIG = `export default { test: {
  include: ['test/compiler/*.test.ts'], pool: 'threads', isolate: false, maxWorkers: 1, bail: 1, testTimeout: 60_000,
} };\n`;

/** A copy of what the tests of the compiler read. */
function makeCopy(): string {
  const copy = mkdtempSync(join(tmpdir(), 'skep-mutate-'));
  for (const name of ['compiler', 'src', 'adapters', 'fixtures', 'docs', 'test/compiler', 'test/setup', 'package.json', 'tsconfig.json']) {
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  writeFileSync(join(copy, 'vitest.config.mjs'), CONFIG);
  return copy;
}

/** Whether the tests pass in `copy`. */
async function passes(copy: string, tests: readonly string[]): Promise<boolean> {
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
  const env = { ...process.env, SKEP_TWIN_TURNS: TWIN_TURNS, CI: '1' };
  const child = spawn(process.execPath, [vitest, 'run', '--reporter=dot', ...tests], { cwd: copy, env, stdio: 'ignore' });
  await once(child, 'exit');
  return child.exitCode === 0;
}

interface Verdict {
  readonly fault: Fault;
  /** What did not catch it, though it should; or why the fault does not apply. */
  readonly complaint: string | undefined;
}

async function judge(copy: string, fault: Fault): Promise<Verdict> {
  const path = join(copy, 'compiler', fault.file);
  const source = readFileSync(path, 'utf8');
  const planted = plant(source, fault);
  if (!planted.ok) return { fault, complaint: planted.why };
  writeFileSync(path, planted.source);
  try {
    const missed: string[] = [];
    if (await passes(copy, TABLES)) missed.push('the tests');
    if (fault.isUnseenByTwin !== true && await passes(copy, TWIN)) missed.push('the twin');
    return { fault, complaint: missed.length === 0 ? undefined : `not caught by ${missed.join(' and ')}` };
  } finally {
    writeFileSync(path, source);
  }
}

const words = process.argv.slice(2);
const queue = FAULTS.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
const count = queue.length;
const copies = Array.from({ length: AT_ONCE }, makeCopy);
const failed: Verdict[] = [];

async function work(copy: string): Promise<void> {
  for (let fault = queue.shift(); fault !== undefined; fault = queue.shift()) {
    const verdict = await judge(copy, fault);
    if (verdict.complaint !== undefined) failed.push(verdict);
    const by = fault.isUnseenByTwin === true ? 'tests' : 'tests and twin';
    process.stdout.write(`${verdict.complaint ?? `caught by ${by}`}: ${fault.name} (${fault.file})\n`);
  }
}

try {
  const [first] = copies;
  // The control: with nothing planted, everything passes.
  if (first === undefined || !(await passes(first, TABLES)) || !(await passes(first, TWIN))) {
    process.stderr.write('mutate: the tests fail with no fault planted\n');
    process.exitCode = 2;
  } else {
    await Promise.all(copies.map(work));
    process.stdout.write(`${count - failed.length} of ${count} faults caught\n`);
    for (const { fault, complaint } of failed) process.stderr.write(`mutate: ${fault.name} (${fault.file}): ${complaint ?? ''}\n`);
    process.exitCode = failed.length > 0 || count === 0 ? 1 : 0;
  }
} finally {
  for (const copy of copies) rmSync(copy, { recursive: true, force: true });
}
