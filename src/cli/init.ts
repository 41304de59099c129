/**
 * `skep init`: a config that runs at once, with the keys it names. Writes only what is not there: if one of its files
 * exists, it says so and writes nothing; if writing breaks off, what was written is taken away again.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { nsecEncode } from 'nostr-tools/nip19';
import { Failure } from '../model/index.ts';
import type { FailureCode, Pubkey, Random } from '../model/index.ts';
import { parseSecretKey, toNpub } from '../nostr/index.ts';
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
  const [owner, helper] = [newKey(systemRandom), newKey(systemRandom)];
  const channelId = randomUUID();
  const ownsIgnore = !exists(join(target, '.gitignore'));
  writeAll(target, [
    ['skep.yaml', configTemplate({ owner: toNpub(owner.pubkey), channelId }), 0o644],
    ['keys/owner.key', `${owner.nsec}\n`, 0o600],
    ['keys/helper.key', `${helper.nsec}\n`, 0o600],
    ...(ownsIgnore ? [['.gitignore', '# Secret keys and skep\'s own data.\n/keys/\n/.skep/\n', 0o644] as const] : []),
  ]);
  const config = join(relative(process.cwd(), target), 'skep.yaml');
  print(`Written to ${target}: skep.yaml, keys/owner.key, keys/helper.key${ownsIgnore ? ', .gitignore' : ''}`);
  if (!ownsIgnore) print('There is a .gitignore already: see that it names /keys/ and /.skep/');
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
      writeFileSync(path, text, { flag: 'wx', mode });
      undo.push(() => { rmSync(path); });
    }
  } catch (error) {
    for (const step of undo.reverse()) step();
    throw error;
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
  const failed = (code: FailureCode, what: string): Failure =>
    new Failure(code, `init: ${what}; nothing was written`, { cause: error });
  switch (error.code) {
    case 'EEXIST':
      return alreadyThere(path);
    case 'ENOSPC':
      return failed('storage_full', `${path}: the disk is full`);
    case 'ENOTDIR':
      return failed('storage_failed', `a part of ${path} is not a directory`);
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return failed('storage_readonly', `${path} cannot be written`);
    default:
      return failed('storage_failed', `${path}: ${String(error.code)}`);
  }
}

function newKey(random: Random): { readonly nsec: string; readonly pubkey: Pubkey } {
  for (;;) {
    const secretKey = random.bytes(32);
    const parsed = parseSecretKey(Buffer.from(secretKey).toString('hex'));
    // One draw in 2^128 is no key; then the next one is.
    if (parsed.ok) return { nsec: nsecEncode(secretKey), pubkey: parsed.pubkey };
  }
}
