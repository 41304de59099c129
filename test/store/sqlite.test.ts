import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { describe, expect, it } from 'vitest';
import { openSqlite, sql, SUPERVISOR_SCHEMA } from '../../src/store/index.ts';
import type { Store } from '../../src/store/index.ts';
import { temporaryDirectory } from '../setup/temp.ts';

const SCHEMA = ['CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT UNIQUE, bytes BLOB)'];

function file(): string {
  return join(temporaryDirectory(), 'skep.db');
}

async function names(store: Store): Promise<unknown> {
  return (await store.read(sql('SELECT name FROM t ORDER BY id'))).map((row) => row['name']);
}

const insert = (name: string) => sql('INSERT INTO t (name) VALUES (?)', name);

describe('write', () => {
  it('tells the rows of each statement and how many it changed, and reads see what was written', async () => {
    const store = openSqlite(':memory:', SCHEMA);
    const written = await store.write(
      sql('INSERT INTO t (name) VALUES (?) RETURNING id, name', 'a'),
      insert('b'),
      sql("INSERT INTO t (name) VALUES ('b') ON CONFLICT (name) DO NOTHING"),
      sql("UPDATE t SET bytes = x'00'"),
      sql("UPDATE t SET bytes = NULL WHERE name = 'c'"),
    );
    const nothing = { rows: [], changes: 0 };
    expect(written.map(({ rows, changes }) => ({ rows, changes }))).toEqual([
      { rows: [{ id: 1, name: 'a' }], changes: 1 }, { rows: [], changes: 1 }, nothing, { rows: [], changes: 2 }, nothing,
    ]);
    expect(written[1]?.addedId).toBe(2);
    expect(await names(store)).toEqual(['a', 'b']);
    await store.close();
  });

  it('is atomic: a failing statement undoes its call', async () => {
    const store = openSqlite(':memory:', SCHEMA);
    await store.write(insert('a'));
    await expect(store.write(insert('b'), insert('a'))).rejects.toMatchObject({ code: 'storage_failed' });
    expect(await names(store)).toEqual(['a']);
    await store.close();
  });

  it('shares a commit with its neighbours, and fails without them', async () => {
    const store = openSqlite(':memory:', SCHEMA);
    const outcomes = await Promise.allSettled([store.write(insert('a')), store.write(insert('a')), store.write(insert('b'))]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await names(store)).toEqual(['a', 'b']);
    await store.close();
  });

  it('does not wait for company when it is alone, and does where there was some', async () => {
    const store = openSqlite(':memory:', SCHEMA);
    const seen: string[] = [];
    const write = (name: string): Promise<unknown> => store.write(insert(name)).then(() => seen.push(name));
    const alone = write('a');
    await Promise.all([
      alone, new Promise<void>((resolve) => setImmediate(() => { resolve(void seen.push('end of turn')); })),
    ]);
    await Promise.all([write('b'), write('c')]);
    const company = write('d');
    await new Promise<void>((resolve) => { process.nextTick(resolve); });
    seen.push('next tick');
    await company;
    expect(seen).toEqual(['a', 'end of turn', 'b', 'c', 'next tick', 'd']);
    await store.close();
  });

  it('fails alone where the disk is full, and goes on when there is space again', async () => {
    const path = file();
    const store = openSqlite(path, SCHEMA);
    const page = await store.read(sql('PRAGMA page_count'));
    await store.read(sql(`PRAGMA max_page_count = ${Number(page[0]?.['page_count']) + 1}`));
    const big = sql('INSERT INTO t (name, bytes) VALUES (?, ?)', 'big', new Uint8Array(100_000));
    await expect(store.write(big)).rejects.toMatchObject({ code: 'storage_full', message: expect.stringContaining(path) });
    expect(await names(store)).toEqual([]);
    await store.read(sql('PRAGMA max_page_count = 100000'));
    await store.write(big);
    expect(await names(store)).toEqual(['big']);
    await store.close();
  });
});

describe('close', () => {
  it('commits what waits, once, and refuses what comes later', async () => {
    const path = file();
    const store = openSqlite(path, SCHEMA);
    const waiting = store.write(insert('last'));
    await Promise.all([store.close(), store.close(), waiting]);
    await expect(store.write(insert('late'))).rejects.toMatchObject({ code: 'storage_failed' });
    const again = openSqlite(path, SCHEMA);
    expect(await names(again)).toEqual(['last']);
    await again.close();
  });
});

describe('openSqlite', () => {
  it('writes through: journal WAL, synchronous FULL', async () => {
    const store = openSqlite(file(), SCHEMA);
    expect(await store.read(sql('PRAGMA journal_mode'))).toEqual([{ journal_mode: 'wal' }]);
    expect(await store.read(sql('PRAGMA synchronous'))).toEqual([{ synchronous: 2 }]);
    await store.close();
  });

  it('makes files that only their owner can read', async () => {
    const path = file();
    const store = openSqlite(path, SCHEMA);
    await store.write(insert('a'));
    for (const name of [path, `${path}-wal`, `${path}-shm`]) expect(statSync(name).mode & 0o777).toBe(0o600);
    await store.close();
  });

  it('migrates from any earlier version and keeps what is there', async () => {
    const path = file();
    const old = openSqlite(path, SCHEMA);
    await old.write(insert('kept'));
    await old.close();
    const store = openSqlite(path, [...SCHEMA, "ALTER TABLE t ADD COLUMN note TEXT DEFAULT 'new'"]);
    expect(await store.read(sql('SELECT name, note FROM t'))).toEqual([{ name: 'kept', note: 'new' }]);
    await store.close();
  });

  it('refuses a newer schema and changes nothing', async () => {
    const path = file();
    const newer = openSqlite(path, [...SCHEMA, 'CREATE TABLE future (id INTEGER)']);
    await newer.close();
    expect(() => openSqlite(path, SCHEMA)).toThrow(expect.objectContaining({
      code: 'storage_newer', message: `${path}: schema version 2 is newer than this skep knows (1); run the skep that wrote it`,
    }));
  });

  it('leaves a database whose migration fails as it was', async () => {
    const path = file();
    await openSqlite(path, SCHEMA).close();
    expect(() => openSqlite(path, [...SCHEMA, 'CREATE TABLE half (id INTEGER); CREATE TABLE t (id INTEGER)'])).toThrow();
    const store = openSqlite(path, SCHEMA);
    expect(await store.read(sql("SELECT name FROM sqlite_master WHERE name = 'half'"))).toEqual([]);
    await store.close();
  });

  it('names the file that is no database, is damaged, or cannot be opened', () => {
    const path = file();
    writeFileSync(path, 'this is not a database, but it is long enough to be read as one'.repeat(20));
    expect(() => openSqlite(path, SCHEMA)).toThrow(expect.objectContaining({ code: 'storage_corrupt', message: expect.stringContaining(path) }));
    expect(() => openSqlite('/nowhere/at/all.db', SCHEMA)).toThrow(expect.objectContaining({ code: 'storage_readonly' }));
  });

  it('waits for another process in bounds, then says who is to blame', () => {
    const path = file();
    const holder = new Database(path);
    holder.exec('CREATE TABLE x (id INTEGER); BEGIN EXCLUSIVE');
    try {
      expect(() => openSqlite(path, SCHEMA)).toThrow(expect.objectContaining({ code: 'storage_busy' }));
    } finally {
      holder.close();
    }
  });
});

it('the schema of a data directory can be made', async () => {
  const store = openSqlite(':memory:', SUPERVISOR_SCHEMA);
  const tables = await store.read(sql("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"));
  expect(tables.map((row) => row['name'])).toEqual(expect.arrayContaining(['inbox', 'journal', 'processes', 'resume']));
  await store.close();
});
