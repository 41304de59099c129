/** Temporary directories that are removed, at the latest, when the test file has ended. */
import { mkdtempSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const made = new Set<string>();

/** A fresh empty directory, as an absolute path without symbolic links. Stop what writes to it before the test ends. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(realpathSync(tmpdir()), 't-'));
  made.add(directory);
  return directory;
}

/** Removes every directory that was handed out. Called by `leaks.ts` after each test file. */
export async function removeTemporaryDirectories(): Promise<void> {
  const directories = [...made];
  made.clear();
  await Promise.all(directories.map((path) => rm(path, { recursive: true, force: true, maxRetries: 3 })));
}
