/**
 * Where fixtures are put: one file each, named by the hash of its bytes, whole or not there at all. For the owner alone
 * unless it is said otherwise: files 0600, and 0700 the directory where it has to be made.
 */
import { hash } from 'node:crypto';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** `turn-` or `stream-`, 16 hex characters of the SHA-256 of the bytes, `.json`. */
export function contentName(kind: 'turn' | 'stream', text: string): string {
  return `${kind}-${hash('sha256', text, 'hex').slice(0, 16)}.json`;
}

export function isContentName(name: string): boolean {
  return /^(?:turn|stream)-[0-9a-f]{16}\.json$/.test(name);
}

/** Modes of a file, and of the folder where it has to be made. */
export interface Modes {
  readonly file: number;
  readonly directory: number;
}

const FOR_THE_OWNER: Modes = { file: 0o600, directory: 0o700 };

/** Writes `text` as `directory/name`, by a temporary file beside it. Rejects as the file system does; then nothing is there. */
export async function putFile(directory: string, name: string, text: string, modes = FOR_THE_OWNER): Promise<void> {
  await mkdir(directory, { recursive: true, mode: modes.directory });
  const path = join(directory, name);
  // Not a fixture to whoever looks meanwhile: it does not end in .json.
  const temporary = join(directory, `.${name}.${process.pid}.tmp`);
  try {
    const file = await open(temporary, 'w', modes.file);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** True when a file of this name and size is there: the name is its content. */
export async function isThere(directory: string, name: string, text: string): Promise<boolean> {
  const found = await stat(join(directory, name)).catch(() => undefined);
  return found?.isFile() === true && found.size === Buffer.byteLength(text);
}
