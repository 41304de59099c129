/**
 * `skep init`: a config that runs at once, with the keys it names. Writes only what is not there: if one of its files
 * exists, it says so and writes nothing; if writing breaks off, what was written is taken away again.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, lstatSync, mkdirSync, openSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { nsecEncode } from 'nostr-tools/nip19';
import { diskTrouble, errorCode, Failure } from '../model/index.ts';
import { newSecretKey, toNpub } from '../nostr/index.ts';
import { systemRandom } from '../system/index.ts';
import { configTemplate } from './init-template.ts';
import { print, typed } from './print.ts';

export function initVerb(program: Command): void {
  program
    .command('init')
    .description('write a config that runs at once, and keys for an owner and an agent; never overwrites')
    .argument('[directory]', 'where; made if there is none', '.')
    .action(init);
}

function init(directory: string): void {
  const target = resolve(directory);
  try {
    write(target);
  } catch (error) {
    throw asFailure(target, error);
  }
}

function write(target: string): void {
  const [owner, helper] = [newSecretKey(systemRandom), newSecretKey(systemRandom)];
  const channelId = randomUUID();
  const ownsIgnore = !exists(join(target, '.gitignore'));
  // Beside the keys, so that no .gitignore above has to name them.
  const ownsKeysIgnore = !exists(join(target, 'keys/.gitignore'));
  writeAll(target, [
    // Keys of model providers come into it.
    ['skep.yaml', configTemplate({ owner: toNpub(owner.pubkey), channelId }), 0o600],
    ...(ownsKeysIgnore ? [['keys/.gitignore', '*\n', 0o644] as const] : []),
    ['keys/owner.key', `${nsecEncode(owner.secretKey)}\n`, 0o600],
    ['keys/helper.key', `${nsecEncode(helper.secretKey)}\n`, 0o600],
    ...(ownsIgnore ? [['.gitignore', '# Secret keys and skep\'s own data.\n/keys/\n/.skep/\n', 0o644] as const] : []),
  ]);
  const config = join(relative(process.cwd(), target), 'skep.yaml');
  const written = ['skep.yaml', 'keys/owner.key', 'keys/helper.key'];
  if (ownsKeysIgnore) written.push('keys/.gitignore (git passes over the keys)');
  if (ownsIgnore) written.push('.gitignore');
  print(`Written to ${target}: ${written.join(', ')}`);
  if (!ownsKeysIgnore) print('There is a keys/.gitignore already: see that it names the keys');
  if (!ownsIgnore) print('There is a .gitignore already: see that it names /.skep/');
  print();
  print(`  owner    ${toNpub(owner.pubkey)}   (you: import keys/owner.key into a Nostr client)`);
  print(`  agent    ${toNpub(helper.pubkey)}   (mention it to wake it)`);
  print(`  channel  ${channelId}   (general)`);
  print('  relay    ws://127.0.0.1:7447   (runs with the supervisor)');
  print();
  print('Next:');
  print(`  ${typed('up', '-c', config)}`);
  print(`  ${typed('status', '-c', config)}   in another terminal`);
}

type Planned = readonly [name: string, text: string, mode: number];

function writeAll(target: string, files: readonly Planned[]): void {
  const undo: (() => void)[] = [];
  try {
    const taken = files.find(([name]) => exists(join(target, name)));
    if (taken !== undefined) throw alreadyThere(join(target, taken[0]));
    for (const [name, text, mode] of files) {
      const path = join(target, name);
      makeFolder(dirname(path), dirname(path) === target ? 0o755 : 0o700, undo);
      writeNew(path, text, mode, undo);
    }
  } catch (error) {
    for (const step of undo.reverse()) step();
    throw error;
  }
}

/** Never over a file that is there. It is taken away again from the moment it is made: a full disk leaves no half of it. */
function writeNew(path: string, text: string, mode: number, undo: (() => void)[]): void {
  const descriptor = openSync(path, 'wx', mode);
  undo.push(() => { rmSync(path); });
  try {
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Makes the folder and the ones above it; `undo` then takes away only those that were made here. */
function makeFolder(path: string, mode: number, undo: (() => void)[]): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path), 0o755, undo);
  mkdirSync(path, { mode });
  undo.push(() => { rmdirSync(path); });
}

/** A dangling link counts: writing through it would make a file elsewhere. */
function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function alreadyThere(path: string): Failure {
  return new Failure('config', `init: ${path} exists; nothing was written`);
}

function asFailure(target: string, error: unknown): unknown {
  if (error instanceof Failure || !(error instanceof Error) || !('code' in error)) return error;
  const path = 'path' in error && typeof error.path === 'string' ? error.path : target;
  if (error.code === 'EEXIST') return alreadyThere(path);
  const { code, what } = diskTrouble(error) ?? { code: 'storage_failed' as const, what: errorCode(error) };
  return new Failure(code, `init: ${path}: ${what}; nothing was written`, { cause: error });
}
