/**
 * What the file system's error codes mean to an operator: which failure, and what to do about it. One table for every
 * file that skep writes.
 */
import type { FailureCode } from './failure.ts';

export interface DiskTrouble {
  readonly code: FailureCode;
  /** Follows the path and a colon. */
  readonly what: string;
}

export const DISK_FULL: DiskTrouble = { code: 'storage_full', what: 'the disk is full; free space and start again' };
const NOT_OURS: DiskTrouble = { code: 'storage_readonly', what: 'cannot be written; check owner and mode' };

const TROUBLES: Readonly<Record<string, DiskTrouble>> = {
  ENOSPC: DISK_FULL,
  EDQUOT: { code: 'storage_full', what: 'the disk quota is used up; free space and start again' },
  EFBIG: { code: 'storage_full', what: 'the limit of a file\'s size is reached (ulimit -f); raise it and start again' },
  EACCES: NOT_OURS,
  EPERM: NOT_OURS,
  EROFS: { code: 'storage_readonly', what: 'is on a read-only file system' },
  ENOTDIR: { code: 'storage_failed', what: 'a part of this path is not a directory' },
};

/** The `code` of an error of the system or of a driver; empty where it has none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** What an error of the file system means; undefined for one that says something else. */
export function diskTrouble(error: unknown): DiskTrouble | undefined {
  const code = errorCode(error);
  return Object.hasOwn(TROUBLES, code) ? TROUBLES[code] : undefined;
}
