#!/usr/bin/env node
/**
 * `node scripts/beside.mjs <script> <script>...`: scripts of package.json beside each other. The first tells what it does
 * as it goes on, the others whatever they said when all have ended, in that order. Exit 0 when all went well, else the
 * exit code of the first of them that did not.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';

const running = process.argv.slice(2).map((name, place) => {
  // Under `npm run` the very npm that runs it; else the one on the path.
  const program = process.env.npm_execpath;
  const [command, before] = program?.endsWith('npm-cli.js') ? [process.execPath, [program]] : ['npm', []];
  const child = spawn(command, [...before, 'run', name], { stdio: place === 0 ? 'inherit' : ['ignore', 'pipe', 'pipe'] });
  return Promise.all([once(child, 'close'), ...[child.stdout, child.stderr].map((stream) => (stream === null ? '' : buffer(stream)))]);
});
let exitCode = 0;
for (const one of running) {
  const [[code], output, errors] = await one;
  process.stdout.write(output);
  process.stderr.write(errors);
  exitCode ||= code ?? 1;
}
process.exitCode = exitCode;
