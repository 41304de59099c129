/**
 * Keys of managed agents, one file each for its owner alone: `<directory>/<pubkey>.key`. A key is on disk before its
 * agent's record is, as `.key.new`, and gets its name when the record is known to be there. So a `.key.new` without a
 * record is of a creation that came to nothing and may go; a `.key` without one is never touched.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { asPubkey, diskTrouble, errorCode, Failure } from '../../model/index.ts';
import type { Pubkey, Random } from '../../model/index.ts';
import { newSecretKey, parseSecretKey } from '../../nostr/index.ts';
import { writePrivateFile } from '../../store/index.ts';

export interface KeyFiles {
  /** A new key, on disk. Throws `Failure` (`storage_*`). */
  mint(): Pubkey;
  /** The key of an agent that has a record; undefined when it is not there, or is another's. */
  read(pubkey: Pubkey): Uint8Array | undefined;
  /** Destroys the key for good. Twice is once. */
  remove(pubkey: Pubkey): void;
  /** Removes a key that never got a record. */
  discard(pubkey: Pubkey): void;
  /** Keys that had no record when they were written. */
  unrecorded(): readonly Pubkey[];
}

const KEPT = '.key';
const FRESH = '.key.new';

export function openKeyFiles(directory: string, random: Random): KeyFiles {
  const path = (pubkey: Pubkey, ending: string): string => join(directory, `${pubkey}${ending}`);
  const names = (): readonly string[] => onDisk(directory, () => (existsSync(directory) ? readdirSync(directory) : []));

  return {
    mint() {
      const { secretKey, pubkey } = newSecretKey(random);
      onDisk(directory, () => mkdirSync(directory, { recursive: true, mode: 0o700 }));
      writePrivateFile(path(pubkey, FRESH), `${Buffer.from(secretKey).toString('hex')}\n`);
      secretKey.fill(0);
      return pubkey;
    },
    read(pubkey) {
      const kept = path(pubkey, KEPT);
      return onDisk(kept, () => {
        if (!existsSync(kept) && existsSync(path(pubkey, FRESH))) renameSync(path(pubkey, FRESH), kept);
        if (!existsSync(kept)) return undefined;
        const parsed = parseSecretKey(readFileSync(kept, 'utf8'));
        return parsed.ok && parsed.pubkey === pubkey ? parsed.secretKey : undefined;
      });
    },
    remove(pubkey) {
      for (const ending of [KEPT, FRESH]) onDisk(path(pubkey, ending), () => { rmSync(path(pubkey, ending), { force: true }); });
    },
    discard(pubkey) {
      for (const name of names().filter((each) => freshOf(each) === pubkey)) {
        onDisk(join(directory, name), () => { rmSync(join(directory, name), { force: true }); });
      }
    },
    unrecorded() {
      return [...new Set(names().flatMap((name) => freshOf(name) ?? []))];
    },
  };
}

/** Whose key a file holds that has no record; also half a one, under the name that it has while it is written. */
function freshOf(name: string): Pubkey | undefined {
  const [, pubkey] = /^(.*)\.key\.new(?:\.\d+)?$/.exec(name) ?? [];
  return pubkey === undefined ? undefined : asPubkey(pubkey);
}

function onDisk<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    const { code, what } = diskTrouble(error)
      ?? { code: 'storage_failed' as const, what: `cannot be read or written (${errorCode(error)})` };
    throw new Failure(code, `${path}: ${what}`, { cause: error });
  }
}
