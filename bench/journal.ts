/**
 * Goals J1 to J4 on a real disk, SQLite with synchronous FULL. The floor of J1 is a bare loop of the same driver that
 * inserts and updates an equal row in two commits of its own. Subject and floor take short turns within one run: a
 * disk that is shared is slow for both.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'libsql';
import type { Journal } from '../src/broker/journal/index.ts';
import { openSqlite, SUPERVISOR_SCHEMA } from '../src/store/index.ts';
import type { Store } from '../src/store/index.ts';
import { ACTION, alone, bodyDigest, inGroups, journalOn, NAMESPACE, newRequestId, NOTHING, OWNER } from './journaled.ts';
import type { BenchRow } from './row.ts';

const PAIRS = 60;
const ACTIONS = 50;
const GROUPED_ACTIONS = 640;
const ROWS = 1_000_000;

export async function run(): Promise<BenchRow[]> {
  const directory = mkdtempSync(join(tmpdir(), 'skep-bench-'));
  const stores: Store[] = [];
  const open = (name: string): Store => {
    const store = openSqlite(join(directory, name), SUPERVISOR_SCHEMA);
    stores.push(store);
    return store;
  };
  const bare = new Database(join(directory, 'bare.db'));
  try {
    const journal = journalOn(open('journal.db'));
    const floor = bareLoop(bare);
    // The floor is native code from the first call on; the subject is measured as a broker runs, compiled and warm.
    await inGroups(journal, 10_000, 64);
    floor();
    const rows = [
      await againstBare(journal, floor),
      syncs(directory, 1),
      syncs(directory, 64),
      await againstAlone(journal, 16, 5),
      await againstAlone(journal, 64, 7),
    ];
    fill(join(directory, 'million.db'));
    return [...rows, await againstEmpty(journalOn(open('empty.db')), journalOn(open('million.db')))];
  } finally {
    bare.close();
    for (const store of stores) await store.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function againstBare(journal: Journal, floor: () => void): Promise<BenchRow> {
  const { ratio, detail } = await inTurns(floor, () => alone(journal, ACTIONS));
  const name = 'a journaled no-op action, one at a time';
  return { goal: 'J1', name, ratio, floor: 'two bare commits of the same driver; at least 0.8', unit: 'rate of the floor', detail };
}

async function againstAlone(journal: Journal, width: number, atLeast: number): Promise<BenchRow> {
  const { ratio, detail } = await inTurns(
    () => alone(journal, ACTIONS),
    () => inGroups(journal, GROUPED_ACTIONS, width),
    GROUPED_ACTIONS,
  );
  const floor = `the rate one at a time; at least ${String(atLeast)}`;
  return { goal: 'J3', name: `${String(width)} journaled no-op actions at once`, ratio, floor, unit: 'rate of the floor', detail };
}

async function againstEmpty(empty: Journal, million: Journal): Promise<BenchRow> {
  const { ratio, detail } = await inTurns(() => alone(empty, ACTIONS), () => alone(million, ACTIONS));
  const name = 'an action in a journal of a million rows';
  return { goal: 'J4', name, ratio: 1 / ratio, floor: 'the time at none; at most 1.15', unit: 'time of the floor', detail };
}

/** Counted by strace; the same program with twice the actions, so that opening and closing drop out. */
function syncs(directory: string, width: number): BenchRow {
  const batches = 10;
  const [once, twice] = [1, 2].map((times) => countedSyncs(directory, times * batches * width, width));
  const counted = once !== undefined && twice !== undefined;
  return {
    goal: 'J2',
    name: width === 1 ? 'disk syncs an action, one at a time' : `disk syncs ${String(width)} actions at once`,
    ratio: counted ? (twice - once) / batches : NaN,
    floor: width === 1 ? 'one for the claim, one for the result; exactly 2' : 'at most 2',
    unit: 'fdatasync and fsync calls',
    detail: counted ? `${String(twice)} against ${String(once)} calls of whole programs` : 'not counted: it takes strace',
  };
}

function countedSyncs(directory: string, actions: number, width: number): number | undefined {
  const trace = join(directory, `trace-${String(actions)}-${String(width)}`);
  const program = fileURLToPath(new URL('programs/journaled-actions.js', import.meta.url));
  const { status } = spawnSync('strace', [
    '-f', '-o', trace, '-e', 'trace=fdatasync,fsync', process.execPath, program, directory, String(actions), String(width),
  ]);
  return status === 0 ? readFileSync(trace, 'utf8').match(/\bf(?:data)?sync\(/g)?.length : undefined;
}

/** A million ended records, in the order of their ids: those to come fall between them, anywhere. */
function fill(path: string): void {
  const database = new Database(path);
  database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF');
  for (const script of SUPERVISOR_SCHEMA) database.exec(script);
  database.exec(`PRAGMA user_version = ${String(SUPERVISOR_SCHEMA.length)}`);
  addNamespace(database);
  database
    .prepare(`INSERT INTO journal (namespace, request_id, digest, action, owner, status, result, claimed_at_ms)
      WITH RECURSIVE n (i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < ? - 1)
      SELECT 1, printf('%08x%024x', i * 4294, i), ?, '${ACTION}', ?, 'done', ?, i FROM n`)
    .run([ROWS, bodyDigest(), OWNER, storedResult()]);
  database.close();
}

function addNamespace(database: Database.Database): void {
  const insert = database.prepare('INSERT INTO journal_namespace (community, principal) VALUES (?, ?)');
  insert.run([NAMESPACE.community, NAMESPACE.principal]);
}

function storedResult(): string {
  return JSON.stringify({ type: 'broker_result', protocolVersion: 1, requestId: '-', ...NOTHING });
}

/** The two commits that no journal can do without, written by hand. */
function bareLoop(database: Database.Database): () => void {
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = FULL');
  for (const script of SUPERVISOR_SCHEMA) database.exec(script);
  const claim = database.prepare(`INSERT INTO journal
    (namespace, request_id, digest, action, owner, status, claimed_at_ms) VALUES (1, ?, ?, ?, ?, 'claimed', ?)`);
  const finish = database.prepare("UPDATE journal SET status = 'done', result = ? WHERE id = ?");
  addNamespace(database);
  const result = storedResult();
  return () => {
    for (let count = 0; count < ACTIONS; count += 1) {
      const { lastInsertRowid } = claim.run([newRequestId(), bodyDigest(), ACTION, OWNER, Date.now()]);
      finish.run([result, Number(lastInsertRowid)]);
    }
  };
}

type Work = () => void | Promise<void>;

/** The median rate of the subject against its floor, pair by pair. */
async function inTurns(floor: Work, subject: Work, actions = ACTIONS): Promise<{ readonly ratio: number; readonly detail: string }> {
  const pairs: { readonly subject: number; readonly floor: number }[] = [];
  for (let pair = 0; pair < PAIRS; pair += 1) {
    pairs.push({ floor: (await timed(floor)) / ACTIONS, subject: (await timed(subject)) / actions });
  }
  const typical = (one: 'subject' | 'floor'): string => (median(pairs.map((pair) => pair[one])) * 1_000).toFixed(0);
  return {
    ratio: median(pairs.map((pair) => pair.floor / pair.subject)),
    detail: `${typical('subject')} µs against ${typical('floor')} µs an action`,
  };
}

async function timed(work: Work): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? NaN;
}
