/** The leak check, checked: each kind of leftover fails a run of the real runner, and a clean file passes beside them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryDirectory } from './temp.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** What a test does; after `---`, what its file does as it is loaded. */
const LEAVING = {
  clean: `clearTimeout(setTimeout(() => {}, 60_000)); setTimeout(() => {}, 60_000).unref();`,
  timer: `setTimeout(() => 'a timer left', 60_000);`,
  interval: `setInterval(() => 'an interval left', 60_000);`,
  child: `(await import('node:child_process')).spawn('sleep', ['5'], { stdio: 'ignore' }).unref();`,
  server: `const server = (await import('node:net')).createServer();
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));`,
  loaded: `--- setInterval(() => 'armed by a load', 60_000);`,
  environment: `process.env.LEFT = 'x';`,
  folder: `process.chdir('/');`,
  clock: `(await import('vitest')).vi.useFakeTimers();`,
  directory: `(await import('node:fs')).mkdirSync((await import('node:os')).tmpdir() + '/left');`,
} as const;

let report: ReadonlyMap<string, string>;

beforeAll(async () => {
  report = await runLeaving();
}, 60_000);

describe('the leak check', () => {
  it.each([
    ['timer', 'a timer left'],
    ['interval', 'an interval left'],
    ['child', 'child process'],
    ['server', '1 TCPServerWrap'],
    ['loaded', 'armed by a load'],
    ['environment', 'LEFT in the environment'],
    ['folder', 'another working directory'],
    ['clock', 'a false clock'],
    ['directory', '/left in the temporary directory'],
  ])('fails a file that leaves a %s', (name, told) => {
    expect(report.get(name)).toContain(told);
  });

  it('passes a file that leaves nothing', () => {
    expect(report.get('clean')).toBe('passed');
  });
});

/** Runs one test file for each way of leaving something; its name to `passed` or the failure's text. */
async function runLeaving(): Promise<ReadonlyMap<string, string>> {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'test'));
  for (const [name, body] of Object.entries(LEAVING)) {
    const [test, load = ''] = body.split('---');
    writeFileSync(join(directory, 'test', `${name}.test.ts`), `${load}\nit('leaves', async () => { ${test} });\n`);
  }
  const setup = JSON.stringify(join(ROOT, 'test', 'setup', 'leaks.ts'));
  writeFileSync(join(directory, 'vitest.config.mjs'), `export default { test: { globals: true, pool: 'forks', isolate: false, setupFiles: [${setup}] } };\n`);
  const args = [join(ROOT, 'node_modules', 'vitest', 'vitest.mjs'), 'run', '--reporter=json', '--outputFile=report.json'];
  const env = { PATH: process.env['PATH'], TMPDIR: directory, SKEP_TEST_LEAK_BOUND_MS: '300' };
  const child = spawn(process.execPath, args, { cwd: directory, env, stdio: 'ignore' });
  await once(child, 'exit');
  const { testResults } = JSON.parse(readFileSync(join(directory, 'report.json'), 'utf8')) as {
    readonly testResults: readonly { readonly name: string; readonly status: string; readonly message: string }[];
  };
  return new Map(testResults.map(({ name, status, message }) => [
    name.replace(/^.*\/(\w+)\.test\.ts$/, '$1'), status === 'passed' ? status : message,
  ]));
}
