/**
 * `skep replay`: recorded turns and streams against the code of today. Exit 0 for the same, 1 for any difference, 2 for
 * a broken fixture (whatever else), 3 when there was nothing to replay.
 */
import { existsSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { diskTrouble, errorCode, Failure, FAILURES } from '../model/index.ts';
import { fixtureFiles, replayFile, shardOf } from '../replay/index.ts';
import type { Outcome, Shard } from '../replay/index.ts';
import { steadyClock } from '../system/index.ts';
import { write } from './output.ts';
import { plural, safe, tell } from './print.ts';
import { githubAnnotation, gitlabReport } from './replay/annotations.ts';
import { junitXml } from './replay/junit.ts';
import { jsonReport, peopleReport } from './replay/report.ts';
import type { Result, Summary, Word } from './replay/result.ts';
import { wordOf } from './replay/result.ts';

interface ReplayFlags {
  readonly update?: boolean;
  readonly json?: boolean;
  readonly junit?: string;
  readonly annotations?: readonly Annotations[];
  readonly shard?: Shard;
}

type Annotations = { readonly for: 'none' | 'github' } | { readonly for: 'gitlab'; readonly file: string };

const DEFAULT_FOLDER = 'fixtures/';

export function replayVerb(program: Command): void {
  program
    .command('replay')
    .description('compile recorded turns and run recorded streams again, and compare with what was recorded')
    .argument('[path...]', `files, and folders with all their .json files (default: ${DEFAULT_FOLDER})`)
    .option('-u, --update', 'show what differs, then write it as what is expected from now on')
    .option('--json', 'one JSON object a line: each fixture, then the summary')
    .option('--junit <file>', 'write JUnit XML as well')
    .option('--annotations <where>', 'github, gitlab=<file> or none; github by itself on GitHub Actions', parseAnnotations)
    .option('--shard <i/n>', 'only the i-th of n parts, from 1', parseShard)
    .addHelpText('after', '\nExit codes: 0 all the same (or blessed), 1 a difference, 2 a broken fixture, 3 nothing replayed.')
    .action(replay);
}

async function replay(paths: readonly string[], flags: ReplayFlags): Promise<void> {
  const startedAtMs = steadyClock.now();
  const { update = false, json = false, junit, shard } = flags;
  const all = filesOf(paths);
  const files = shard === undefined ? all : shardOf(all, shard);
  const report = json ? jsonReport : peopleReport;
  const annotations = annotationsOf(flags);
  const onGithub = annotations.some((one) => one.for === 'github');
  const isKept = junit !== undefined || annotations.some((one) => one.for === 'gitlab');
  const counts: Record<Word, number> = { same: 0, different: 0, broken: 0, blessed: 0 };
  const results: Result[] = [];
  let brokenPromises = 0;
  for (const file of files) {
    const result = await replayOne(file, update);
    await write(report.result(result));
    if (onGithub) await write(githubAnnotation(result), json ? process.stderr : process.stdout);
    if (result.blessed) {
      blessNow(result.outcome);
      await write(report.blessed(result));
      if (isBrokenPromise(result.outcome)) brokenPromises += 1;
    }
    counts[wordOf(result)] += 1;
    if (isKept) results.push(result);
  }
  const summary: Summary = {
    counts, tookMs: steadyClock.now() - startedAtMs, ...(shard !== undefined && { shard: `${shard.index}/${shard.of}` }),
  };
  if (junit !== undefined) writeReport(junit, junitXml(results, summary));
  for (const one of annotations) if (one.for === 'gitlab') writeReport(one.file, gitlabReport(results));
  await write(report.end(summary));
  if (files.length === 0) tell(`this shard of ${plural(all.length, 'fixture')} is empty`);
  if (brokenPromises > 0) tell(`${plural(brokenPromises, 'changed turn')} blessed: under rules version 1 a turn compiles to the same bytes for ever, so this breaks a promise`);
  process.exitCode = exitCodeFor(counts);
}

/** Throws where there is no fixture at all. */
function filesOf(paths: readonly string[]): readonly string[] {
  const isDefault = paths.length === 0;
  const files = isDefault && !existsSync(DEFAULT_FOLDER) ? [] : fixtureFiles(isDefault ? [DEFAULT_FOLDER] : paths);
  if (files.length > 0) return files;
  const where = isDefault ? DEFAULT_FOLDER : paths.join(', ');
  throw new Failure('nothing_replayed', `replay: nothing to replay: there is no .json file in ${safe(where)}`);
}

async function replayOne(file: string, update: boolean): Promise<Result> {
  const startedAtMs = performance.now();
  const outcome = await replayFile(file, { update });
  const blessed = update && outcome.is === 'different' && outcome.bless !== undefined;
  return { outcome, blessed, tookMs: performance.now() - startedAtMs };
}

function blessNow(outcome: Outcome): void {
  if (outcome.is === 'different') outcome.bless?.();
}

/** Compiler spec: a change of any byte rule is a new rules version. A new fixture breaks nothing. */
function isBrokenPromise(outcome: Outcome): boolean {
  return outcome.is === 'different' && outcome.fixture === 'turn' && outcome.differences.some(({ is }) => is !== 'new');
}

/** Where a fixture is broken nobody knows whether it is the same: that outweighs a difference. */
function exitCodeFor({ broken, different }: Readonly<Record<Word, number>>): number {
  if (broken > 0) return FAILURES.refused_input.exit;
  return different > 0 ? FAILURES.not_seen.exit : 0;
}

function annotationsOf({ annotations, json = false }: ReplayFlags): readonly Annotations[] {
  if (annotations !== undefined) return annotations;
  return process.env['GITHUB_ACTIONS'] === 'true' && !json ? [{ for: 'github' }] : [];
}

function parseAnnotations(text: string, before: readonly Annotations[] = []): readonly Annotations[] {
  if (text === 'github' || text === 'none') return [...before, { for: text }];
  const file = /^gitlab=(.+)$/s.exec(text)?.[1];
  if (file === undefined) throw new InvalidArgumentError('expected github, gitlab=<file> or none');
  return [...before, { for: 'gitlab', file }];
}

function parseShard(text: string): Shard {
  const [, first, second] = /^(\d{1,6})\/(\d{1,6})$/.exec(text) ?? [];
  const [index, of] = [Number(first), Number(second)];
  if (index >= 1 && index <= of) return { index, of };
  throw new InvalidArgumentError('expected i/n with i from 1 to n');
}

function writeReport(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    const { code, what } = diskTrouble(error) ?? { code: 'storage_failed' as const, what: errorCode(error) };
    throw new Failure(code, `replay: ${safe(file)}: the report cannot be written: ${what}`, { cause: error });
  }
}
