/**
 * Takes the clock, chance, environment, locale, timers and network away from itself, then loads the compiler and gives
 * each line of its standard input to it. Prints what came out, a line each, and last which of the things it took away
 * did throw when asked.
 */
import { readFileSync, writeSync } from 'node:fs';

const inputs = readFileSync(0, 'utf8').split('\n').filter((line) => line !== '');

const refuse = (name) => () => {
  throw new Error(`asked for ${name}`);
};
const trapped = (name) => {
  const no = refuse(name);
  return new Proxy(function nothing() {}, {
    get: no, set: no, has: no, apply: no, construct: no, ownKeys: no, getOwnPropertyDescriptor: no, getPrototypeOf: no,
  });
};
const replace = (object, name, value) => Object.defineProperty(object, name, { value, configurable: true });

// Loaded first: the loader of modules reads the environment. The compiler itself is loaded bare, below.
const { hash } = await import('node:crypto');
hash('sha256', '', 'hex');

const GLOBALS = [
  'Date', 'Intl', 'performance', 'setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'fetch', 'console',
  'crypto', 'navigator',
];
for (const name of GLOBALS) replace(globalThis, name, trapped(name));
replace(Math, 'random', refuse('Math.random'));
for (const name of ['localeCompare', 'toLocaleLowerCase', 'toLocaleUpperCase', 'normalize']) {
  replace(String.prototype, name, refuse(name));
}
for (const type of [Number, BigInt, Array, Object]) {
  replace(type.prototype, 'toLocaleString', refuse('toLocaleString'));
}

const { appendSteer, compileSteer, compileTurn, ledgerManifest, openLedger, parseTurnText } = await import(
  new URL('../../../dist/compiler/index.js', import.meta.url).href
);
replace(process, 'env', trapped('process.env'));
for (const name of ['cwd', 'hrtime', 'uptime', 'memoryUsage']) replace(process, name, refuse(`process.${name}`));

/** The whole of `text` to standard output, which may be a full pipe. */
function print(text) {
  let bytes = Buffer.from(`${text}\n`);
  while (bytes.length > 0) bytes = bytes.subarray(writeSync(1, bytes));
}

for (const line of inputs) {
  const parsed = parseTurnText(line);
  if (!parsed.ok) throw new Error(`${parsed.path}: expected ${parsed.expected}`);
  const compiled = compileTurn(parsed.input);
  const steer = compileSteer(parsed.input);
  const ledger = ledgerManifest(appendSteer(openLedger(compiled.manifest), steer.layers));
  print(JSON.stringify([compiled, steer, ledger]));
}

const controls = {
  Date: () => Date.now(), 'new Date': () => new Date(), 'Math.random': () => Math.random(), Intl: () => Intl.Collator,
  'process.env': () => process.env.HOME, localeCompare: () => 'a'.localeCompare('b'), console: () => console.log,
};
const threw = Object.keys(controls).filter((name) => {
  try {
    controls[name]();
    return false;
  } catch {
    return true;
  }
});
print(JSON.stringify(threw));
