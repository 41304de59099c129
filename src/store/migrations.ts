/**
 * Schema versions. A database carries the number of its last migration in `user_version`; a newer number than we know
 * is refused, never guessed at. A migration, once released, is never edited: the next change is the next entry.
 */
import { Failure } from '../model/index.ts';

/** SQL text of each version, the first entry being version 1. */
export type Migrations = readonly string[];

/** The part of a database that migrating needs. */
export interface Migratable {
  version(): number;
  /** Runs `script` and sets the version in one transaction. */
  migrate(script: string, version: number): void;
}

/** Brings the database to the newest version. Throws `storage_newer` and changes nothing when it is beyond it. */
export function migrate(database: Migratable, migrations: Migrations, file: string): void {
  const found = database.version();
  if (found > migrations.length) {
    throw new Failure(
      'storage_newer',
      `${file}: schema version ${found} is newer than this skep knows (${migrations.length}); run the skep that wrote it`,
    );
  }
  migrations.slice(found).forEach((script, index) => {
    database.migrate(script, found + index + 1);
  });
}
