/**
 * SQLite through libsql (better-sqlite3's interface, prebuilt): WAL, synchronous FULL, one connection, group commit.
 *
 * Writes queue while the loop is busy and share the next commit. The first write of an idle store is committed on the
 * next turn of the event loop, so that requests read from sockets in the same turn join it. When a call of a shared
 * commit fails, the batch is run again with a savepoint around each: a failing statement undoes its own call alone.
 */
import { closeSync, openSync } from 'node:fs';
import Database from 'libsql';
import { Failure } from '../model/index.ts';
import { storageFailure } from './failures.ts';
import { migrate } from './migrations.ts';
import type { Migrations } from './migrations.ts';
import type { Row, Statement, Store } from './store.ts';

/** How long another process may hold the lock before a write fails with `storage_busy`. */
const BUSY_TIMEOUT_MS = 5_000;
/** Prepared statements kept; all of ours are constant texts, a few dozen in number. */
const MAX_PREPARED = 256;

interface Waiting {
  readonly statements: readonly Statement[];
  readonly resolve: (rows: readonly (readonly Row[])[]) => void;
  readonly reject: (error: Failure) => void;
}

/**
 * Opens the database at `path` (`:memory:` for none on disk), checks it and brings it to the newest schema.
 * Throws a `Failure` whose message names the file.
 */
export function openSqlite(path: string, migrations: Migrations): Store {
  try {
    // For its owner alone, whatever the folder allows; SQLite gives its other files the same mode.
    if (path !== ':memory:') closeSync(openSync(path, 'a', 0o600));
    const database = new Database(path, { timeout: BUSY_TIMEOUT_MS });
    try {
      return new SqliteStore(database, path, migrations);
    } catch (error) {
      database.close();
      throw error;
    }
  } catch (error) {
    throw storageFailure(error, path);
  }
}

class SqliteStore implements Store {
  readonly #database: Database.Database;
  readonly #file: string;
  readonly #prepared = new Map<string, Database.Statement>();
  #waiting: Waiting[] = [];
  #scheduled: NodeJS.Immediate | undefined;
  #closed = false;

  constructor(database: Database.Database, file: string, migrations: Migrations) {
    this.#database = database;
    this.#file = file;
    database.exec('PRAGMA journal_mode = WAL');
    database.exec('PRAGMA synchronous = FULL');
    database.exec('PRAGMA foreign_keys = ON');
    migrate(
      {
        version: () => Number(this.#all('PRAGMA user_version', [])[0]?.['user_version'] ?? 0),
        migrate: (script, version) => {
          database.exec(`BEGIN IMMEDIATE; ${script}; PRAGMA user_version = ${version}; COMMIT`);
        },
      },
      migrations,
      file,
    );
  }

  write(...statements: readonly Statement[]): Promise<readonly (readonly Row[])[]> {
    if (this.#closed) return Promise.reject(this.#closedFailure());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ statements, resolve, reject });
      this.#scheduled ??= setImmediate(() => {
        this.#commit();
      });
    });
  }

  async read(statement: Statement): Promise<readonly Row[]> {
    if (this.#closed) throw this.#closedFailure();
    try {
      return this.#all(statement.sql, statement.params);
    } catch (error) {
      throw storageFailure(error, this.#file);
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    if (this.#waiting.length > 0) this.#commit();
    this.#closed = true;
    this.#prepared.clear();
    this.#database.close();
  }

  /** One transaction for everything that waits. A failed commit fails every call in it: none of them is on disk. */
  #commit(): void {
    clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
    const batch = this.#waiting;
    this.#waiting = [];
    const [first] = batch;
    if (first !== undefined && batch.length === 1 && first.statements.length === 1) {
      this.#commitAlone(first);
      return;
    }
    try {
      this.#transact(batch, false);
    } catch (error) {
      const failure = this.#undo(error);
      // Who waited for the lock in vain does not wait again; any other failure may be one call's alone.
      if (batch.length > 1 && failure.code !== 'storage_busy') this.#commitGuarded(batch);
      else for (const call of batch) call.reject(failure);
    }
  }

  /** One call of the batch failed, and nothing is on disk: once more, so that it undoes its own work and no other's. */
  #commitGuarded(batch: readonly Waiting[]): void {
    try {
      this.#transact(batch, true);
    } catch (error) {
      const failure = this.#undo(error);
      for (const call of batch) call.reject(failure);
    }
  }

  /** The batch in one transaction; its callers are told after the commit, and only then. */
  #transact(batch: readonly Waiting[], guarded: boolean): void {
    this.#run('BEGIN IMMEDIATE');
    const settle = batch.map((call) => this.#perform(call, guarded));
    this.#run('COMMIT');
    for (const done of settle) done();
  }

  /** A statement alone is a transaction of its own: without BEGIN and COMMIT it costs two calls of the driver less. */
  #commitAlone(call: Waiting): void {
    try {
      call.resolve(call.statements.map((statement) => this.#all(statement.sql, statement.params)));
    } catch (error) {
      call.reject(storageFailure(error, this.#file));
    }
  }

  /** Runs one call inside the open transaction; what it returns tells the caller, after the commit. */
  #perform(call: Waiting, guarded: boolean): () => void {
    if (guarded) this.#run('SAVEPOINT one');
    try {
      const rows = call.statements.map((statement) => this.#all(statement.sql, statement.params));
      if (guarded) this.#run('RELEASE one');
      return () => {
        call.resolve(rows);
      };
    } catch (error) {
      // A full disk rolls the whole transaction back by itself: then nobody's work stands, and all are told.
      if (!guarded || !this.#database.inTransaction) throw error;
      this.#run('ROLLBACK TO one');
      this.#run('RELEASE one');
      return () => {
        call.reject(storageFailure(error, this.#file));
      };
    }
  }

  #all(text: string, params: Statement['params']): readonly Row[] {
    const statement = this.#statement(text);
    if (!statement.reader) {
      statement.run([...params]);
      return [];
    }
    return statement.all([...params]).filter(isRow);
  }

  #run(text: string): void {
    this.#statement(text).run([]);
  }

  #statement(text: string): Database.Statement {
    const known = this.#prepared.get(text);
    if (known !== undefined) return known;
    if (this.#prepared.size >= MAX_PREPARED) this.#prepared.clear();
    const statement = this.#database.prepare(text);
    this.#prepared.set(text, statement);
    return statement;
  }

  #undo(error: unknown): Failure {
    try {
      if (this.#database.inTransaction) this.#run('ROLLBACK');
    } catch {
      // The transaction is gone with the connection's trouble; the callers are told the first cause.
    }
    return storageFailure(error, this.#file);
  }

  #closedFailure(): Failure {
    return new Failure('storage_failed', `${this.#file}: the store is closed`);
  }
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null;
}
