/**
 * Builds `dist` once before the tests: the launcher, the scripted agent and the command line are tested as the real
 * programs they are. Incremental, so that an unchanged tree costs about a second. A type error fails the run, unless
 * SKEP_TEST_DESPITE_TYPE_ERRORS says that another room is being worked on (tsc writes its output all the same).
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export function setup(): void {
  const build = spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: ROOT, encoding: 'utf8' });
  if (build.status === 0) return;
  const report = `${build.stdout}${build.stderr}${build.error?.message ?? ''}`.trim();
  if ((process.env['SKEP_TEST_DESPITE_TYPE_ERRORS'] ?? '') === '') throw new Error(`the build failed:\n${report}`);
  process.stderr.write(`testing despite type errors:\n${report}\n`);
}
