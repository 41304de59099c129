/** Skep's own version, from the package it runs from. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const VERSION = readVersion(dirname(fileURLToPath(import.meta.url)));

/** The source and the compiled program lie at different depths below package.json. */
function readVersion(directory: string): string {
  const file = join(directory, 'package.json');
  if (!existsSync(file)) return readVersion(dirname(directory));
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string };
  return version;
}
