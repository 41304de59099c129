/** The built compiler where it could go wrong without anyone seeing: with no world around it, and in several threads. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { appendSteer, compileSteer, compileTurn, ledgerManifest, openLedger } from '../../compiler/index.ts';
import { hostileTurn } from './hostile.ts';

const inputs = fc.sample(hostileTurn, { numRuns: 200, seed: 11 });
const program = (name: string): URL => new URL(`programs/${name}.mjs`, import.meta.url);

test('without clock, chance, environment, locale, timers and network it compiles the same', { timeout: 60_000 }, () => {
  const child = spawnSync(process.execPath, [fileURLToPath(program('compiles-without-a-world'))], {
    input: inputs.map((input) => JSON.stringify(input)).join('\n'),
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  expect(child.stderr).toBe('');
  const lines = child.stdout.trimEnd().split('\n');
  // The control: asked for, they do throw.
  const threw: unknown = JSON.parse(lines.pop() ?? '');
  expect(threw).toEqual(['Date', 'new Date', 'Math.random', 'Intl', 'process.env', 'localeCompare', 'console']);
  const expected = inputs.map((input) => {
    const [compiled, steer] = [compileTurn(input), compileSteer(input)];
    const ledger = ledgerManifest(appendSteer(openLedger(compiled.manifest), steer.layers));
    return JSON.stringify([compiled, steer, ledger]);
  });
  expect(lines).toEqual(expected);
});

test('four threads at once compile the same, again and again', { timeout: 60_000 }, async () => {
  const expected = inputs.map((input) => JSON.stringify([compileTurn(input), compileSteer(input)]));
  const workers = Array.from({ length: 4 }, () => new Worker(program('compiles-in-a-thread'), { workerData: inputs }));
  const answers = await Promise.all(
    workers.map(async (worker) => {
      const [[answer]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')]);
      return answer as unknown;
    }),
  );
  for (const answer of answers) expect(answer).toEqual([expected, expected]);
});
