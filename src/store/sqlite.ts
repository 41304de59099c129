/**
 * SQLite through libsql (better-sqlite3's interface, prebuilt): WAL, synchronous FULL, one connection, group commit.
 *
 * A write alone is committed as soon as the code that made it has run; one that finds company, or did a moment ago,
 * waits for the end of the event loop's turn, so that whatever the turn reads from sockets shares the commit. When a
 * call of a shared commit fails, the batch is run again with a savepoint around each: a failing statement undoes its
 * own call alone.
 */
import { closeSync, openSync } from 'node:fs';
import Database from 'libsql';
import { Failure } from '../model/index.ts';
import { storageFailure } from './failures.ts';
import { migrate } from './migrations.ts';
import { sql } from './store.ts';
import type { Migrations } from './migrations.ts';
import type { Row, Statement, Store, Written } from './store.ts';

/** How long another process may hold the lock before a write fails with `storage_busy`. */
const BUSY_TIMEOUT_MS = 5_000;
/** Prepared statements kept; all of ours are constant texts, a few dozen in number. */
const MAX_PREPARED = 256;
/** Commits without waiting in one turn of the event loop: the claim and the result of one journaled action. */
const COMMITS_AT_ONCE = 2;

interface Prepared {
  readonly statement: Database.Statement;
  /** Whether it returns rows: asking the driver costs a call into it. */
  readonly reader: boolean;
}

interface Waiting {
  readonly statements: readonly Statement[];
  readonly resolve: (written: readonly Written[]) => void;
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
  readonly #prepared = new Map<string, Prepared>();
  #waiting: Waiting[] = [];
  /** Set until the present turn of the event loop ends; undefined when nothing was written in it. */
  #turn: NodeJS.Immediate | undefined;
  #committedInTurn = 0;
  /** The last commit had more than one call in it, so the next may be expected to. */
  #crowded = false;
  #closed = false;

  constructor(database: Database.Database, file: string, migrations: Migrations) {
    this.#database = database;
    this.#file = file;
    database.exec('PRAGMA journal_mode = WAL');
    database.exec('PRAGMA synchronous = FULL');
    database.exec('PRAGMA foreign_keys = ON');
    migrate(
      {
        version: () => Number(this.#perform(sql('PRAGMA user_version')).rows[0]?.['user_version'] ?? 0),
        migrate: (script, version) => {
          database.exec(`BEGIN IMMEDIATE; ${script}; PRAGMA user_version = ${version}; COMMIT`);
        },
      },
      migrations,
      file,
    );
  }

  write(...statements: readonly Statement[]): Promise<readonly Written[]> {
    if (this.#closed) return Promise.reject(this.#closedFailure());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ statements, resolve, reject });
      this.#turn ??= setImmediate(() => {
        this.#endTurn();
      });
      if (this.#waiting.length > 1 || this.#crowded || this.#committedInTurn >= COMMITS_AT_ONCE) return;
      process.nextTick(() => {
        this.#commit();
      });
    });
  }

  #endTurn(): void {
    this.#turn = undefined;
    this.#committedInTurn = 0;
    if (this.#waiting.length === 0) this.#crowded = false;
    else this.#commit();
  }

  async read(statement: Statement): Promise<readonly Row[]> {
    if (this.#closed) throw this.#closedFailure();
    try {
      return this.#perform(statement).rows;
    } catch (error) {
      throw storageFailure(error, this.#file);
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#commit();
    clearImmediate(this.#turn);
    this.#closed = true;
    this.#prepared.clear();
    this.#database.close();
  }

  /** One transaction for everything that waits. A failed commit fails every call in it: none of them is on disk. */
  #commit(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    const [first] = batch;
    if (first === undefined) return;
    this.#committedInTurn += 1;
    this.#crowded = batch.length > 1;
    if (batch.length === 1 && first.statements.length === 1) {
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
    const settle = batch.map((call) => this.#join(call, guarded));
    this.#run('COMMIT');
    for (const done of settle) done();
  }

  /** A statement alone is a transaction of its own: without BEGIN and COMMIT it costs two calls of the driver less. */
  #commitAlone(call: Waiting): void {
    try {
      call.resolve(call.statements.map((statement) => this.#perform(statement)));
    } catch (error) {
      call.reject(storageFailure(error, this.#file));
    }
  }

  /** Runs one call inside the open transaction; what it returns tells the caller, after the commit. */
  #join(call: Waiting, guarded: boolean): () => void {
    if (guarded) this.#run('SAVEPOINT one');
    try {
      const written = call.statements.map((statement) => this.#perform(statement));
      if (guarded) this.#run('RELEASE one');
      return () => {
        call.resolve(written);
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

  #perform({ sql: text, params }: Statement): Written {
    const { statement, reader } = this.#statement(text);
    if (!reader) {
      const { changes, lastInsertRowid } = statement.run(params);
      return { rows: [], changes, addedId: Number(lastInsertRowid) };
    }
    const rows = statement.all(params).filter(isRow);
    return { rows, changes: rows.length, addedId: 0 };
  }

  #run(text: string): void {
    this.#statement(text).statement.run([]);
  }

  #statement(text: string): Prepared {
    const known = this.#prepared.get(text);
    if (known !== undefined) return known;
    if (this.#prepared.size >= MAX_PREPARED) this.#prepared.clear();
    const statement = this.#database.prepare(text);
    const prepared = { statement, reader: statement.reader };
    this.#prepared.set(text, prepared);
    return prepared;
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
