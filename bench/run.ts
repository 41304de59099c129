/**
 * Runs the paired benchmarks and prints each ratio with its floor: `npm run bench`, or `npm run bench -- turn journal`.
 * `load` and `soak`, which take minutes, run only when they are named; `soak=5000` runs so many turns. Ratios are taken within one run; absolute times vary with the machine and are only told beside them.
 */
import type { BenchRow } from './row.ts';

interface Bench {
  readonly run: (count?: number) => Promise<readonly BenchRow[]>;
}

const names = ['acp', 'compiler', 'crypto', 'host', 'journal', 'replay', 'turn'];
const long = ['load', 'soak'];
const wanted = process.argv.slice(2);
const unknown = wanted.find((word) => !/^(?:[a-z]+|soak=[1-9]\d{0,7})$/.test(word) || ![...names, ...long].includes(nameOf(word)));
if (unknown !== undefined) {
  process.stderr.write(`bench: no benchmark ${unknown}; there are ${[...names, ...long].join(', ')}\n`);
  process.exit(2);
}
for (const word of wanted.length > 0 ? wanted : names) {
  const bench = (await import(`./${nameOf(word)}.js`)) as Bench;
  const [, count] = word.split('=');
  for (const row of await bench.run(count === undefined ? undefined : Number(count))) {
    process.stdout.write(`${row.goal.padEnd(3)} ${row.name.padEnd(44)} ${row.ratio.toFixed(2).padStart(7)}  ${row.unit}\n`);
    process.stdout.write(`    floor: ${row.floor}\n    ${row.detail}\n`);
  }
}

function nameOf(word: string): string {
  return word.split('=')[0] ?? word;
}
