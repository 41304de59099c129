/**
 * The limit of open files as a failure of its own: whatever wanted to open one, it is the limit that must be mended, and
 * no bug. The module loader meets it as well, and may say that a module is "not found"; SQLite says no more than that it
 * cannot open its file. The launcher, which loads this program, has the same rule in plain JavaScript.
 */
import { closeSync, openSync } from 'node:fs';
import { Failure } from '../model/index.ts';

/** Enough to start with; each agent process takes a handful more. */
const NEEDED = 256;

/** What the store says of a file that it cannot open: true as it stands where this many more can be opened. */
const OF_THE_STORE: ReadonlySet<unknown> = new Set(['storage_readonly', 'storage_failed']);
const SPARE = 16;

/** The failure that an error stands for, when it is about open files. */
export function ofOpenFiles(error: unknown): Failure | undefined {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  if (code === 'ENFILE') return new Failure('open_files', 'the system has no open file left (ENFILE); close programs and start again', { cause: error });
  const isMet = code === 'EMFILE' || code === 'ERR_MODULE_NOT_FOUND' || (OF_THE_STORE.has(code) && !canOpen(SPARE));
  const limit = isMet ? openFilesLimit() : undefined;
  if (limit === undefined || (code !== 'EMFILE' && limit >= NEEDED)) return undefined;
  const what = limit < NEEDED ? `, too low: at least ${NEEDED} are needed` : ' and is reached: more are needed';
  return new Failure('open_files', `the limit of open files is ${limit}${what} (ulimit -n)`, { cause: error });
}

function canOpen(count: number): boolean {
  const opened: number[] = [];
  try {
    for (let left = count; left > 0; left -= 1) opened.push(openSync(process.execPath, 'r'));
    return true;
  } catch {
    return false;
  } finally {
    for (const file of opened) closeSync(file);
  }
}

/** Infinity where there is none. */
export function openFilesLimit(): number {
  const limits = member(process.report.getReport(), 'userLimits');
  const soft = member(member(limits, 'open_files'), 'soft');
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY;
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
