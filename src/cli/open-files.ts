/**
 * The limit of open files as a failure of its own: whatever wanted to open one, it is the limit that must be mended, and
 * no bug. The module loader meets it as well, and may say that a module is "not found"; SQLite says no more than that it
 * cannot open its file. The launcher, which loads this program, has the same rule in plain JavaScript.
 */
import { Failure } from '../model/index.ts';

/** Enough to start with; each agent process takes a handful more. */
const NEEDED = 256;

/** What is said for want of an open file by those who do not say so; believed where there are fewer than needed. */
const DISGUISES: readonly unknown[] = ['ERR_MODULE_NOT_FOUND', 'storage_readonly', 'storage_failed'];

/** The failure that an error stands for, when it is about open files. */
export function ofOpenFiles(error: unknown): Failure | undefined {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  if (code === 'ENFILE') return new Failure('open_files', 'the system has no open file left (ENFILE); close programs and start again', { cause: error });
  const limit = code === 'EMFILE' || DISGUISES.includes(code) ? openFilesLimit() : undefined;
  if (limit === undefined || (code !== 'EMFILE' && limit >= NEEDED)) return undefined;
  const what = limit < NEEDED ? `, too low: at least ${NEEDED} are needed` : ' and is reached: more are needed';
  return new Failure('open_files', `the limit of open files is ${limit}${what} (ulimit -n)`, { cause: error });
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
