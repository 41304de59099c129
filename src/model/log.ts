/**
 * What a room may say while it runs. A room takes a `Log` as a parameter and never opens one: where the lines go, at
 * which level and in which form is decided once, beside the program's entrance.
 *
 * Fields are data for a reader (ids, counts, codes). Keys, credentials and decrypted payloads are never passed at info
 * or above; the real log redacts what has their form all the same.
 */
type Say = (message: string, fields?: Readonly<Record<string, unknown>>) => void;

export interface Log {
  readonly debug: Say;
  readonly info: Say;
  readonly warn: Say;
  readonly error: Say;
}

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
/** The quietest line that is written; `silent` writes none. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** A log that says nothing. */
export const silentLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };

function nothing(): void {}
