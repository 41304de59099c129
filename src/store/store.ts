/**
 * The one small interface to durable state. Statements are data, so that the same calls run on SQLite (synchronous,
 * one writer) and on a server database; a room keeps its SQL in one file and parses the rows it reads there.
 *
 * A write is atomic and resolves only after its commit reached the disk: that is what "commit before act" rests on.
 */
export type SqlValue = string | number | bigint | Uint8Array | null;
export type Row = Readonly<Record<string, unknown>>;

/** `sql` with `?` placeholders. Put ownership in the WHERE of every finishing statement; `changes` tells whether it held. */
export interface Statement {
  readonly sql: string;
  readonly params: readonly SqlValue[];
}

/** What one statement of a write did. With a SELECT or RETURNING, `changes` is the number of the rows returned. */
export interface Written {
  readonly rows: readonly Row[];
  readonly changes: number;
  /** The integer key of the row that an INSERT added; anything where it added none. */
  readonly addedId: number;
}

export interface Store {
  /**
   * Runs the statements in order in one transaction: all or none. Resolves after the commit with what each did. Calls
   * made together may share a commit (group commit), yet each succeeds or fails alone.
   * Rejects with a `Failure` (`storage_full`, `storage_readonly`, `storage_corrupt`, `storage_busy`, `storage_failed`).
   */
  write(...statements: readonly Statement[]): Promise<readonly Written[]>;
  /** Rows of one SELECT, seeing every write that has resolved. */
  read(statement: Statement): Promise<readonly Row[]>;
  /** Commits what waits, then closes. Closing twice is closing once; later calls reject with `storage_failed`. */
  close(): Promise<void>;
}

/** A statement, for the common case of writing one inline. */
export function sql(text: string, ...params: readonly SqlValue[]): Statement {
  return { sql: text, params };
}
