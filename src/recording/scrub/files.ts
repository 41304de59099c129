/**
 * Files of fixtures, scrubbed together and put elsewhere, or in their own place. Nothing is written before all of them
 * are read and scrubbed. A file that was named by its content is named anew: the old name would tell what was in it.
 */
import { rm } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { diskTrouble, errorCode, excerpt, Failure } from '../../model/index.ts';
import { fixtureFiles, fixtureText, loadFixture } from '../../replay/index.ts';
import type { Broken, Fixture } from '../../replay/index.ts';
import { contentName, isContentName, putFile } from '../shelf.ts';
import { scrubFixtures } from './scrub.ts';

export interface ScrubOptions {
  /** Files and folders. */
  readonly paths: readonly string[];
  /** The folder to write to, made where it is not there; absent: each file is replaced. */
  readonly out?: string;
}

export interface ScrubbedFile {
  readonly from: string;
  readonly to: string;
}

export type Scrubbing =
  | { readonly is: 'written'; readonly files: readonly ScrubbedFile[] }
  | { readonly is: 'broken'; readonly broken: readonly Broken[] }
  /** Two files would be written as one. */
  | { readonly is: 'clash'; readonly first: string; readonly second: string };

/** For everybody: what is written is to be shown. */
const OPEN = { file: 0o644, directory: 0o755 };

/** Rejects with a `Failure` where the disk does not take it; files that were written before stay. */
export async function scrubFiles({ paths, out }: ScrubOptions): Promise<Scrubbing> {
  const files = fixtureFiles(paths);
  const fixtures: Fixture[] = [];
  const broken: Broken[] = [];
  for (const file of files) {
    const loaded = loadFixture(file);
    if (loaded.is === 'broken') broken.push(loaded);
    else fixtures.push(loaded.fixture);
  }
  if (broken.length > 0) return { is: 'broken', broken };
  const scrubbed = await scrubFixtures(fixtures);
  if (!scrubbed.ok) {
    const { index, detail } = scrubbed;
    return { is: 'broken', broken: [{ is: 'broken', file: files[index] ?? '', path: 'expected', what: detail }] };
  }

  const places = scrubbed.fixtures.map((fixture, index): ScrubbedFile & { readonly text: string } => {
    const from = files[index] ?? '';
    const text = fixtureText(fixture);
    return { from, to: join(out === undefined ? dirname(from) : join(out, folderOf(from, paths)), nameOf(from, fixture, text)), text };
  });
  const clash = clashIn(places);
  if (clash !== undefined) return { is: 'clash', ...clash };
  for (const { from, to, text } of places) {
    try {
      await putFile(dirname(to), basename(to), text, OPEN);
      if (out === undefined && resolve(from) !== resolve(to)) await rm(from);
    } catch (error) {
      throw asFailure(to, error);
    }
  }
  return { is: 'written', files: places.map(({ from, to }) => ({ from, to })) };
}

function nameOf(from: string, fixture: Fixture, text: string): string {
  return isContentName(basename(from)) ? contentName(fixture.is === 'stream' ? 'stream' : 'turn', text) : basename(from);
}

/** Where a file lies below the folder that was named; '' for a file that was named itself. */
function folderOf(file: string, paths: readonly string[]): string {
  for (const path of paths) {
    const below = relative(path, dirname(file));
    if (resolve(path) !== resolve(file) && below !== '..' && !below.startsWith(`..${sep}`)) return below;
  }
  return '';
}

function clashIn(places: readonly ScrubbedFile[]): { readonly first: string; readonly second: string } | undefined {
  const taken = new Map<string, string>();
  for (const { from, to } of places) {
    const first = taken.get(resolve(to));
    // Of one content there may be two files; they are one afterwards.
    if (first !== undefined && !isContentName(basename(to))) return { first, second: from };
    taken.set(resolve(to), from);
  }
  return undefined;
}

function asFailure(file: string, error: unknown): unknown {
  if (errorCode(error) === '') return error;
  const { code, what } = diskTrouble(error) ?? { code: 'storage_failed' as const, what: `cannot be written (${errorCode(error)})` };
  return new Failure(code, `${excerpt(file, 160)}: ${what}`, { cause: error });
}
