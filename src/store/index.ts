/**
 * Durable state.
 * in: src/model. out: the `Store` interface, SQLite behind it, migrations and the schema of a data directory.
 */
export { sql } from './store.ts';
export type { Row, SqlValue, Statement, Store, Written } from './store.ts';
export { openSqlite } from './sqlite.ts';
export type { Migrations } from './migrations.ts';
export { SUPERVISOR_SCHEMA } from './schema.ts';
