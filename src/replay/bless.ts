/**
 * What the code of today gives, written into a fixture as what it must give from now on. Only the recorded member is
 * put in; all else stays, in its order. The file is replaced whole or not at all, and never by one that would be refused.
 */
import { closeSync, fchmodSync, fsyncSync, openSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { parseJsonText } from '../../compiler/index.ts';
import type { CompiledTurn } from '../../compiler/index.ts';
import { diskTrouble, errorCode, excerpt, Failure } from '../model/index.ts';
import { readFixture } from './fixture.ts';
import type { Sighting } from './stream-fixture.ts';

export type Blessing =
  | { readonly member: 'output'; readonly value: CompiledTurn }
  | { readonly member: 'expected'; readonly value: readonly Sighting[] };

/** Writes the fixture `file`, whose text is `source`, with `blessing`. Throws a `Failure` where the disk does not take it. */
export function bless(file: string, source: string, { member, value }: Blessing): void {
  const json = parseJsonText(source);
  if (!json.ok || typeof json.value !== 'object' || json.value === null) throw new TypeError(`bless: ${file} was read before and is no object now`);
  // Entries keep the order of the members; one that is not there comes last.
  const members = new Map<string, unknown>(Object.entries(json.value)).set(member, value);
  const text = `${JSON.stringify(Object.fromEntries(members), null, 2)}\n`;
  const read = readFixture(text);
  if (!read.ok) throw new TypeError(`bless: ${file} would be refused: ${read.path}: expected ${read.expected}`);
  try {
    replace(realpathSync(file), text);
  } catch (error) {
    throw asFailure(file, error);
  }
}

/** Through a file beside it, which no replay takes for a fixture, and a rename. */
function replace(path: string, text: string): void {
  const beside = `${path}.${process.pid}.tmp`;
  const { mode } = statSync(path);
  const descriptor = openSync(beside, 'wx');
  try {
    try {
      fchmodSync(descriptor, mode);
      writeFileSync(descriptor, text);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(beside, path);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
}

function asFailure(file: string, error: unknown): unknown {
  if (errorCode(error) === '') return error;
  const { code, what } = diskTrouble(error) ?? { code: 'storage_failed' as const, what: errorCode(error) };
  return new Failure(code, `replay: ${excerpt(file, 160)}: ${what}; it is as it was`, { cause: error });
}
