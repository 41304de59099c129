/** NIP-50: what words find, and what they do not. Whose events they find is `visibility.test.ts`. */
import { join } from 'node:path';
import Database from 'libsql';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { matchExpression } from '../../src/relay/search.ts';
import { RELAY_SCHEMA } from '../../src/relay/schema.ts';
import { openSqlite } from '../../src/store/index.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import { alice, bob, Client, OPEN, PRIVATE, startRelay } from './harness.ts';

it.each([
  ['hello', '"hello"'],
  ['  two   words ', '"two" "words"'],
  ['say "hi"', '"say" """hi"""'],
  ['a OR b NOT c*', '"a" "OR" "b" "NOT" "c*"'],
  ['rust domain:example.com language:en', '"rust"'],
  ['http://x', '"http://x"'],
  ['a\0b', '"a" "b"'],
  ['include:spam', '""'],
  ['', '""'],
])('%j asks for %s', (search, expression) => {
  expect(matchExpression(search)).toBe(expression);
});

it('takes any text as words', () => {
  const database = new Database(':memory:');
  database.exec('CREATE VIRTUAL TABLE words USING fts5(text)');
  const find = database.prepare('SELECT rowid FROM words WHERE words MATCH ?');
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (search) => find.all(matchExpression(search)).length === 0));
  database.close();
});

it('finds messages of channels one may read, newest first, within the rest of the filter', async () => {
  const relay = await startRelay();
  const [author, reader, stranger] = [await Client.as(alice, relay), await Client.as(bob, relay), await Client.as(alice, relay)];
  const at = Math.floor(Date.now() / 1000);
  const older = alice.sign(9, [['h', OPEN]], 'The Bienenstock hums', at - 9);
  const newer = alice.sign(9, [['h', PRIVATE]], 'bienenstock, they HUM', at - 5);
  const other = alice.sign(1, [], 'a hive', at - 1);
  for (const event of [older, newer, other]) await author.publish(event);
  expect(await reader.stored('s', { search: 'BIENENSTOCK' })).toEqual([newer.id, older.id]);
  expect(await reader.stored('s', { search: 'hum bienenstock' })).toEqual([newer.id]);
  expect(await reader.stored('s', { search: 'bienenstock', '#h': [OPEN], kinds: [9] })).toEqual([older.id]);
  expect(await reader.stored('s', { search: 'bienenstock', limit: 1 })).toEqual([newer.id]);
  expect(await reader.stored('s', { search: 'bienenstock', until: at - 9 })).toEqual([older.id]);
  expect(await reader.stored('s', { search: 'hive', kinds: [9] })).toEqual([]);
  expect(await reader.stored('s', { search: 'no such word' })).toEqual([]);
  expect(await reader.stored('s', { search: '' })).toEqual([]);
  // It is no subscription to what comes.
  await reader.stored('s', { search: 'hive' }, { kinds: [1] });
  const live = alice.sign(1, [], 'hive again');
  await stranger.publish(live);
  expect((await reader.nextEvent('s')).id).toBe(live.id);
  expect(await reader.stored('s', { search: 'hive' })).toEqual([live.id, other.id]);
  await author.publish(alice.sign(5, [['e', other.id]]));
  expect(await reader.stored('s', { search: 'hive' })).toEqual([live.id]);
  for (const search of [7, 'x'.repeat(257)]) {
    reader.send(['REQ', 's', { search }]);
    expect((await reader.next('CLOSED', 's'))[2]).toMatch(/^invalid: search: /);
  }
});

it('finds what was stored before there was a search', async () => {
  const storePath = join(temporaryDirectory(), 'relay.db');
  await openSqlite(storePath, RELAY_SCHEMA.slice(0, 1)).close();
  const database = new Database(storePath);
  const insert = database.prepare("INSERT INTO events (id, pubkey, created_at, kind, gate, json) VALUES (?, ?, 1, ?, 'all', ?)");
  const [note, sealed] = [alice.sign(1, [], 'an old word'), alice.sign(30_174, [['d', 'x']], 'an old word')];
  for (const event of [note, sealed]) insert.run(event.id, event.pubkey, event.kind, JSON.stringify(event));
  database.close();
  const client = await Client.as(alice, await startRelay({ storePath }));
  expect(await client.stored('s', { search: 'old' })).toEqual([note.id]);
});
