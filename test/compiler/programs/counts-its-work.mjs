/**
 * Compiles each line of its standard input and prints how much work that was: how often each block of the compiler's
 * code ran, and how many characters went through the string functions that it called. No clock: the same input counts
 * the same on every machine.
 *
 * With `--unreached` it prints instead which pieces of the compiler's code no line has reached, as `file: code`.
 */
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { fileURLToPath } from 'node:url';

const ROOM = new URL('../../../dist/compiler/', import.meta.url);
const turns = readFileSync(0, 'utf8').split('\n').filter((line) => line !== '').map((line) => JSON.parse(line));

let characters = 0;
const counting = (type, name, lengthOf) => {
  const original = type.prototype[name];
  type.prototype[name] = function counted(...args) {
    const result = Reflect.apply(original, this, args);
    characters += lengthOf(this, args, result);
    return result;
  };
};
// What a function looks at: the whole, except where it is known to begin later and to stop earlier.
const LOOKED_AT = {
  indexOf: (text, [, from = 0], found) => (found === -1 ? text.length : found) - from + 1,
  slice: (_, __, piece) => piece.length,
};
for (const name of Object.getOwnPropertyNames(String.prototype)) {
  // `charCodeAt` and the like look at one character; blocks count those.
  if (typeof ''[name] === 'function' && !/^(constructor|at|char\w*|codePointAt)$/.test(name)) {
    counting(String, name, LOOKED_AT[name] ?? ((text) => text.length));
  }
}
counting(RegExp, 'test', (_, [text]) => text.length);

const session = new Session();
session.connect();
const ask = (method, params) => {
  let answer;
  session.post(method, params, (error, result) => {
    if (error) throw new Error(`${method}: ${error.message}`);
    answer = result;
  });
  return answer;
};
ask('Profiler.enable');
ask('Profiler.startPreciseCoverage', { callCount: true, detailed: true });

const {
  accountForLines, appendSteer, compileSteer, compileTurn, ledgerManifest, openLedger, parseTurnInput, standingText, turnRoute,
} = await import(new URL('index.js', ROOM).href);

/** Each function of the compiler's code with its blocks, and how often they ran since the last call. */
function ran() {
  return ask('Profiler.takePreciseCoverage').result.filter(({ url }) => url.startsWith(ROOM.href));
}

function compileOne(turn) {
  const compiled = compileTurn(turn);
  const steer = compileSteer(turn);
  ledgerManifest(appendSteer(openLedger(compiled.manifest), steer.layers));
  standingText(turn.standing ?? {});
  turnRoute(turn);
  accountForLines(turn);
}

if (process.argv[2] === '--unreached') {
  for (const turn of turns) {
    if (!parseTurnInput(turn).ok) throw new Error('a turn was refused');
    compileOne(turn);
  }
  for (const { url, functions } of ran()) {
    const source = readFileSync(fileURLToPath(url), 'utf8');
    for (const { startOffset, endOffset, count } of functions.flatMap(({ ranges }) => ranges)) {
      const code = source.slice(startOffset, endOffset).replaceAll(/\s+/g, ' ').trim();
      if (count === 0 && code !== '}') process.stdout.write(`${url.slice(ROOM.href.length)}: ${code}\n`);
    }
  }
} else {
  for (const turn of turns) compileOne(turn); // Once before: what is compiled lazily counts in no run.
  ran();
  for (const turn of turns) {
    characters = 0;
    compileOne(turn);
    const blocks = ran().flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges));
    process.stdout.write(`${characters + blocks.reduce((sum, { count }) => sum + count, 0)}\n`);
  }
}
