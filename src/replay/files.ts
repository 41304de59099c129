/**
 * Which files a replay is of: files as named, and below folders every name that ends in `.json`. Hidden entries and
 * `node_modules` are passed over. Sorted bytewise, so that the order is the same on every machine and in every locale.
 * What cannot be listed is in the list by its name: reading it says why.
 */
import { readdirSync, realpathSync, statSync } from 'node:fs';
import { join, normalize, resolve } from 'node:path';

/** `paths` relative to the current directory, or absolute; so are the files. */
export function fixtureFiles(paths: readonly string[]): readonly string[] {
  const files = new Map<string, string>();
  const folders = new Set<string>();
  for (const path of paths) walk(normalize(path), { files, folders });
  return [...files.values()].sort(bytewise);
}

export interface Shard {
  /** From 1. */
  readonly index: number;
  readonly of: number;
}

/** Every `of`th of `files`: each is in exactly one shard, and the shards are of one size, give or take one. */
export function shardOf(files: readonly string[], { index, of }: Shard): readonly string[] {
  return files.filter((_, at) => at % of === index - 1);
}

interface Walked {
  /** By absolute path: what is named twice is replayed once. */
  readonly files: Map<string, string>;
  /** Real paths: a link back to a folder above is no way into it again. */
  readonly folders: Set<string>;
}

function walk(path: string, walked: Walked): void {
  if (!isFolder(path)) {
    walked.files.set(resolve(path), path);
    return;
  }
  const real = realpathSync(path);
  if (walked.folders.has(real)) return;
  walked.folders.add(real);
  const names = namesIn(path);
  if (names === undefined) walked.files.set(resolve(path), path);
  for (const name of names ?? []) {
    if (name.startsWith('.') || name === 'node_modules') continue;
    const inner = join(path, name);
    if (name.endsWith('.json') || isFolder(inner)) walk(inner, walked);
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function namesIn(folder: string): readonly string[] | undefined {
  try {
    return readdirSync(folder);
  } catch {
    return undefined;
  }
}

function bytewise(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
