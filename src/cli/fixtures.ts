/** `skep fixtures`: what is done with recorded fixtures beside replaying them. So far one thing: scrubbing. */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { Failure } from '../model/index.ts';
import { scrubFiles } from '../recording/index.ts';
import { plural, print, safe, tell } from './print.ts';
import { brokenLine } from './replay/words.ts';

interface ScrubFlags {
  readonly out?: string;
  readonly inPlace?: boolean;
}

export function fixturesVerb(program: Command): void {
  const fixtures = program.command('fixtures').description('recorded fixtures: scrub them');
  fixtures
    .command('scrub')
    .description('replace keys, ids, names and texts by stable stand-ins and sign anew with test keys, so that a real turn can be shown')
    .argument('<path...>', 'files, and folders with all their .json files; scrubbed together, they agree')
    .option('-o, --out <dir>', 'the folder to write to')
    .option('--in-place', 'replace the files themselves')
    .addHelpText('after', `
Rules and channel types stay, and so do white space, punctuation and the lengths of texts.
Exit codes: 0 written, 2 a broken fixture or wrong words (nothing is written then).`)
    .action(async (paths: readonly string[], flags: ScrubFlags) => {
      process.exitCode = await scrub(paths, flags);
    });
}

async function scrub(paths: readonly string[], { out, inPlace = false }: ScrubFlags): Promise<number> {
  if ((out === undefined) !== inPlace) throw new Failure('usage', 'fixtures scrub: expected one of --out <dir> and --in-place');
  for (const path of paths) if (!existsSync(path)) throw new Failure('usage', `${safe(path)}: there is no such file or folder`);
  const scrubbed = await scrubFiles({ paths, ...(out !== undefined && { out }) });
  switch (scrubbed.is) {
    case 'written':
      if (scrubbed.files.length === 0) throw new Failure('usage', 'fixtures scrub: found no fixture there');
      for (const { from, to } of scrubbed.files) print(from === to ? safe(to) : `${safe(from)} -> ${safe(to)}`);
      print(`${plural(scrubbed.files.length, 'fixture')} scrubbed; look at them before you show them`);
      return 0;
    case 'broken':
      for (const broken of scrubbed.broken) tell(brokenLine(broken));
      tell('nothing was written');
      return 2;
    case 'clash':
      throw new Failure('usage', `${safe(scrubbed.first)} and ${safe(scrubbed.second)} would be one file; scrub their folder as a whole`);
  }
}
