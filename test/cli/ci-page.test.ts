/** The recipes of docs/ci.md: every word in them exists, and what they run does what the page says. */
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { temporaryDirectory } from '../setup/temp.ts';
import { runSkep, stopAll } from './skep.ts';

afterEach(stopAll);

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PAGE = readFileSync(join(ROOT, 'docs', 'ci.md'), 'utf8');

/** The blocks of the page in one language. */
function blocks(language: string): readonly string[] {
  return [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, body = '']) => body);
}

interface Github {
  readonly jobs: { readonly replay: { readonly steps: readonly { readonly run?: string }[] } };
}
interface Gitlab {
  readonly replay: { readonly script: readonly string[] };
}

const [github, gitlab] = blocks('yaml');
const githubRuns = (parse(github ?? '') as Github).jobs.replay.steps.map((step) => step.run ?? '').filter((line) => line !== '');
const gitlabRuns = (parse(gitlab ?? '') as Gitlab).replay.script;
const consoleLines = blocks('console').flatMap((body) => body.trimEnd().split('\n'));
const skepLines = [...githubRuns, ...gitlabRuns, ...consoleLines].filter((line) => /^(?:npx )?skep /.test(line));

/** The words after `skep`, the variables of CI replaced by shard 1 of 2. */
function words(line: string): readonly string[] {
  return line.replace(/^(?:npx )?skep /, '').replace('${{ matrix.shard }}', '1').replace('$CI_NODE_INDEX/$CI_NODE_TOTAL', '1/2').split(' ');
}

describe('the page', () => {
  it('has two recipes of ten lines at most, each installing before it replays', () => {
    for (const recipe of [github, gitlab]) expect(recipe?.trimEnd().split('\n').length).toBeLessThanOrEqual(10);
    for (const runs of [githubRuns, gitlabRuns]) expect(runs).toEqual(['npm ci', expect.stringMatching(/^npx skep replay /)]);
    expect(skepLines.length).toBeGreaterThanOrEqual(4);
  });

  it.each(skepLines)('knows the verb and the flags of: %s', async (line) => {
    const all = words(line);
    const verb = all.slice(0, all[0] === 'fixtures' ? 2 : 1);
    const { code, stdout } = await runSkep([...verb, '--help'], temporaryDirectory());
    expect(code).toBe(0);
    expect(stdout).toContain(`Usage: skep ${verb.join(' ')} `);
    for (const flag of all.filter((word) => word.startsWith('--'))) expect(stdout).toMatch(new RegExp(`^ .*${flag}\\b`, 'm'));
  });

  it('says what .ci/run runs, as the README does', () => {
    const runs = readFileSync(join(ROOT, '.ci', 'run'), 'utf8').split('\n').filter((line) => line.startsWith('npm '));
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly scripts: Readonly<Record<string, string>> };
    expect(runs.length).toBeGreaterThan(3);
    for (const line of runs) {
      expect(PAGE).toContain(`\`${line}\``);
      expect(readme).toContain(line);
      if (line.startsWith('npm run ')) expect(scripts).toHaveProperty([line.split(' ')[2] ?? '']);
    }
  });
});

describe('in a repository with fixtures', () => {
  const replays = [...githubRuns, ...gitlabRuns].filter((line) => line.includes('replay'));
  let directory = '';

  beforeAll(() => {
    directory = temporaryDirectory();
    mkdirSync(join(directory, 'fixtures'));
    for (const name of ['bare.json', 'batch.json', 'dm.json']) copyFileSync(join(ROOT, 'fixtures', 'turns', name), join(directory, 'fixtures', name));
  });

  it.each(replays)('%s is green, and writes its reports', async (line) => {
    const { code, stderr } = await runSkep(words(line), directory);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const [, report = ''] of line.matchAll(/(\w+\.(?:xml|json))/g)) expect(existsSync(join(directory, report))).toBe(true);
  });

  it.each(replays)('%s is red for a changed turn', async (line) => {
    const changed = readFileSync(join(directory, 'fixtures', 'bare.json'), 'utf8').replaceAll('Scope: channel', 'Scope: thread');
    const folder = temporaryDirectory();
    mkdirSync(join(folder, 'fixtures'));
    writeFileSync(join(folder, 'fixtures', 'bare.json'), changed);
    const { code, stdout } = await runSkep(words(line), folder);
    expect(code).toBe(1);
    expect(stdout).toContain('fixtures/bare.json');
  });

  it('is no success where nothing was recorded', async () => {
    expect((await runSkep(['replay'], temporaryDirectory())).code).toBe(3);
  });
});
