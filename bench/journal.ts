/**
 * Goals J1 and J3 on a real disk, SQLite with synchronous FULL. The subject is a no-op action through the journal's
 * whole API (flight, claim, machine, result, stored form); the floor of J1 is a bare loop of the same driver that
 * inserts and updates an equal row in two commits of its own. Subject and floor take turns within one run.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { openJournal } from '../src/broker/journal/index.ts';
import type { Journal, Operation, Verdict } from '../src/broker/journal/index.ts';
import { digestOf } from '../src/broker/wire/index.ts';
import { pubkey, silentLog } from '../src/model/index.ts';
import { openSqlite, SUPERVISOR_SCHEMA } from '../src/store/index.ts';
import { systemClock } from '../src/system/index.ts';
import type { BenchRow } from './row.ts';

const PAIRS = 15;
const ACTIONS = 200;
const WARM_UPS = 50;
const NAMESPACE = { community: 'wss://relay.example', principal: pubkey('1'.repeat(64)) };
const NOTHING: Verdict = { status: 'succeeded', action: 'storage.get', outcome: {} };
const BODY = Buffer.from(JSON.stringify({ type: 'broker_request', args: { slug: 'core' }, padding: 'x'.repeat(100) }));

export async function run(): Promise<BenchRow[]> {
  const directory = mkdtempSync(join(tmpdir(), 'skep-bench-'));
  const store = openSqlite(join(directory, 'journal.db'), SUPERVISOR_SCHEMA);
  const bare = new Database(join(directory, 'bare.db'));
  try {
    const journal = openJournal({
      store,
      clock: systemClock,
      log: silentLog,
      owner: 'bench',
      wireOf: () => ({ publish: neverSent, find: neverSent }),
    });
    const floor = bareLoop(bare);
    // The floor is native code from the first call on; the subject is measured as a broker runs, compiled and warm.
    for (let count = 0; count < WARM_UPS; count += 1) await inGroups(journal, 64);
    floor();
    return [await againstBare(journal, floor), await againstAlone(journal, 16, 5), await againstAlone(journal, 64, 7)];
  } finally {
    bare.close();
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function againstBare(journal: Journal, floor: () => void): Promise<BenchRow> {
  const pairs: { readonly subject: number; readonly floor: number }[] = [];
  for (let pair = 0; pair < PAIRS; pair += 1) {
    pairs.push({ floor: await timed(floor), subject: await timed(() => alone(journal)) });
  }
  const subject = median(pairs.map((pair) => pair.subject));
  const bare = median(pairs.map((pair) => pair.floor));
  return {
    goal: 'J1',
    name: 'a journaled no-op action, one at a time',
    ratio: median(pairs.map((pair) => pair.floor / pair.subject)),
    floor: 'two bare commits of the same driver; at least 0.8',
    unit: 'rate of the floor',
    detail: `${perAction(subject)} µs against ${perAction(bare)} µs an action`,
  };
}

async function againstAlone(journal: Journal, width: number, atLeast: number): Promise<BenchRow> {
  const ratios: number[] = [];
  let [together, one] = [0, 0];
  for (let pair = 0; pair < PAIRS; pair += 1) {
    one = await timed(() => alone(journal));
    together = await timed(() => inGroups(journal, width));
    ratios.push(one / together);
  }
  return {
    goal: 'J3',
    name: `${String(width)} journaled no-op actions at once`,
    ratio: median(ratios),
    floor: `the rate one at a time; at least ${String(atLeast)}`,
    unit: 'rate of the floor',
    detail: `${perAction(together)} µs against ${perAction(one)} µs an action`,
  };
}

async function alone(journal: Journal): Promise<void> {
  for (let count = 0; count < ACTIONS; count += 1) await journal.run(operation());
}

/** Each of `width` callers runs its actions one after the other; all of them at once. */
async function inGroups(journal: Journal, width: number): Promise<void> {
  let left = ACTIONS;
  const caller = async (): Promise<void> => {
    for (; left > 0;) {
      left -= 1;
      await journal.run(operation());
    }
  };
  await Promise.all(Array.from({ length: width }, caller));
}

let serial = 0;

function operation(): Operation {
  serial += 1;
  return {
    key: { ...NAMESPACE, requestId: requestId(serial) },
    digest: digestOf(BODY),
    action: 'storage.get',
    plan: () => Promise.resolve({ type: 'end', verdict: NOTHING }),
    withdrawn: () => undefined,
  };
}

/** Ids as clients make them: without order. */
function requestId(number: number): string {
  return digestOf(Buffer.from(String(number))).slice(0, 32);
}

/** The two commits that no journal can do without, written by hand. */
function bareLoop(database: Database.Database): () => void {
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = FULL');
  for (const script of SUPERVISOR_SCHEMA) database.exec(script);
  const claim = database.prepare(`INSERT INTO journal
    (namespace, request_id, digest, action, owner, status, claimed_at_ms) VALUES (1, ?, ?, ?, ?, 'claimed', ?)`);
  const finish = database.prepare("UPDATE journal SET status = 'done', result = ? WHERE id = ?");
  database
    .prepare('INSERT INTO journal_namespace (community, principal) VALUES (?, ?)')
    .run([NAMESPACE.community, NAMESPACE.principal]);
  const result = JSON.stringify({ type: 'broker_result', protocolVersion: 1, requestId: '-', ...NOTHING });
  return () => {
    for (let count = 0; count < ACTIONS; count += 1) {
      serial += 1;
      const { lastInsertRowid } = claim.run([requestId(serial), digestOf(BODY), 'storage.get', 'bench', Date.now()]);
      finish.run([result, Number(lastInsertRowid)]);
    }
  };
}

function neverSent(): Promise<never> {
  return Promise.reject(new TypeError('a no-op action sends nothing'));
}

async function timed(work: () => void | Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? NaN;
}

function perAction(ms: number): string {
  return ((ms * 1_000) / ACTIONS).toFixed(0);
}
