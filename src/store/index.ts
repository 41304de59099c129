/**
 * Durable state.
 * in: src/model. out: the `Store` interface, SQLite behind it, migrations and the schema of a data directory, files for
 * their owner alone.
 */
export { sql } from './store.ts';
export type { Row, SqlValue, Statement, Store, Written } from './store.ts';
export { openSqlite } from './sqlite.ts';
export { writePrivateFile } from './private-file.ts';
export type { Migrations } from './migrations.ts';
export { SUPERVISOR_SCHEMA } from './schema.ts';
