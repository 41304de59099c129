/**
 * A file as a fixture, or why it is broken: where, and what was expected there. Bounded in size.
 * in: a path. out: a fixture and its text, or what is wrong.
 */
import { readFileSync, statSync } from 'node:fs';
import { decodeText } from '../turn-file/index.ts';
import { readFixture } from './fixture.ts';
import type { Fixture } from './fixture.ts';

/** A recorded turn is some kilobytes; one of fifty events of 64 kB each is 3.5 MB, and again as much of output. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** `path` like `input.events[3].event.sig`, where the file could be read so far; `what` is one line. */
export interface Broken {
  readonly is: 'broken';
  readonly file: string;
  readonly line?: number;
  readonly path?: string;
  readonly what: string;
}

export type Loaded = { readonly is: 'loaded'; readonly source: string; readonly fixture: Fixture } | Broken;

export function loadFixture(file: string): Loaded {
  const bytes = readBytes(file);
  if (typeof bytes === 'string') return { is: 'broken', file, what: bytes };
  const decoded = decodeText(bytes);
  if (!decoded.ok) return refusedAs(file, decoded);
  const source = decoded.text;
  const read = readFixture(source);
  return read.ok ? { is: 'loaded', source, fixture: read.value } : refusedAs(file, read);
}

interface Refused {
  readonly path: string;
  readonly expected: string;
  readonly found?: string;
  readonly line?: number;
}

function refusedAs(file: string, { line, path, expected, found = 'nothing' }: Refused): Broken {
  return { is: 'broken', file, path, what: `expected ${expected}, found ${found}`, ...(line !== undefined && { line }) };
}

/** The bytes, or what is in the way. */
function readBytes(file: string): Buffer | string {
  try {
    const stat = statSync(file);
    if (stat.isDirectory()) return 'a directory that cannot be listed';
    // Opening a pipe would wait for its writer.
    if (!stat.isFile()) return 'expected a file';
    if (stat.size > MAX_FILE_BYTES) return `expected at most ${MAX_FILE_BYTES / 1024 / 1024} MiB, found ${stat.size} bytes`;
    return readFileSync(file);
  } catch (error) {
    return whyNot(error);
  }
}

function whyNot(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') throw error;
  switch (error.code) {
    case 'ENOENT':
      return 'there is no such file or folder';
    case 'EACCES':
    case 'EPERM':
      return 'it may not be read';
    case 'ELOOP':
      return 'a symbolic link that leads to itself';
    default:
      return `it cannot be read: ${error.code}`;
  }
}
