/**
 * The mark of an agent process: a random word in its environment, which everything it starts inherits, in whatever
 * group or session. It tells ours from a stranger where pid and descent tell nothing any more. It is no secret and
 * grants nothing; on record is its digest, so that the record alone marks nobody.
 *
 * A program that empties its environment, or writes its title over it, loses the mark.
 */
import { createHash } from 'node:crypto';

/** The name of the mark in a child's environment. */
export const ENV_PROCESS = 'SKEP_PROCESS';

/** The digest of the mark in an environment; undefined where there is none. */
export function markOf(env: Readonly<Record<string, string>>): string | undefined {
  const word = env[ENV_PROCESS];
  return word === undefined || word === '' ? undefined : digest(word);
}

/** The same of /proc/<pid>/environ: `NAME=value`, each ended by a NUL. */
export function markInEnviron(environ: string): string | undefined {
  return markAmong(environ.split('\0'));
}

/** The same of a line of `ps`, where words of the command line and of the environment stand one after the other. */
export function markInWords(line: string): string | undefined {
  return markAmong(line.split(' '));
}

function markAmong(entries: readonly string[]): string | undefined {
  const start = `${ENV_PROCESS}=`;
  const found = entries.find((entry) => entry.startsWith(start) && entry.length > start.length);
  return found === undefined ? undefined : digest(found.slice(start.length));
}

function digest(word: string): string {
  return createHash('sha256').update(word).digest('hex');
}
