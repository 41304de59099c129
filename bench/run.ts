/**
 * Runs the paired benchmarks and prints each ratio with its floor: `npm run bench`, or `npm run bench -- turn journal`.
 * Ratios are taken within one run; absolute times vary with the machine and are only told beside them.
 */
import type { BenchRow } from './row.ts';

interface Bench {
  readonly run: () => Promise<readonly BenchRow[]>;
}

const names = ['acp', 'compiler', 'crypto', 'host', 'journal', 'replay', 'turn'];
const wanted = process.argv.slice(2);
const unknown = wanted.find((name) => !names.includes(name));
if (unknown !== undefined) {
  process.stderr.write(`bench: no benchmark ${unknown}; there are ${names.join(', ')}\n`);
  process.exit(2);
}
for (const name of wanted.length > 0 ? wanted : names) {
  const bench = (await import(`./${name}.js`)) as Bench;
  for (const row of await bench.run()) {
    process.stdout.write(`${row.goal.padEnd(3)} ${row.name.padEnd(44)} ${row.ratio.toFixed(2).padStart(7)}  ${row.unit}\n`);
    process.stdout.write(`    floor: ${row.floor}\n    ${row.detail}\n`);
  }
}
