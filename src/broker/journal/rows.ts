/**
 * The journal on disk: every statement and every parsed row in one place. A row's status is the last thing that is
 * durable of it: `claimed`, `signed` (with its event), `done` (with its result, or without once it was discarded; an
 * indeterminate result beside an event says that it was given up).
 *
 * Each run of the broker owns the rows it claimed or adopted, and each statement that goes on with a row names the
 * owner and the status it expects: a run that was taken over can finish nothing ("Execution and retries" 2).
 */
import { Failure } from '../../model/index.ts';
import type { Clock, Log, Pubkey } from '../../model/index.ts';
import { parseEvent, verifyEvent } from '../../nostr/index.ts';
import type { VerifiedEvent } from '../../nostr/index.ts';
import { sql } from '../../store/index.ts';
import type { Row, SqlValue, Statement, Store } from '../../store/index.ts';
import { atRest } from './machine.ts';
import type { RecordState } from './machine.ts';
import { ATTACHING, isPublishing, verdictFromText, verdictToText } from './verdict.ts';
import type { Evidence, Verdict } from './verdict.ts';

/** What request ids are unique in. */
export interface Namespace {
  readonly community: string;
  readonly principal: Pubkey;
}

/** K of NIP-BA. `requestId` of an agent is 0x21 to 0x7e throughout; ids of skep's own hold a byte outside of that. */
export interface RecordKey extends Namespace {
  readonly requestId: string;
}

export interface Claim {
  readonly key: RecordKey;
  /** D of NIP-BA. */
  readonly digest: string;
  readonly action: string;
  readonly turnId?: string;
  readonly evidence?: Evidence;
}

/** Names a row for as long as there is the database; a step finds it without the index of keys. */
export type RowId = number;

export interface FoundRecord {
  readonly row: RowId;
  readonly key: RecordKey;
  readonly digest: string;
  /** False when another run of the broker is to finish it. */
  readonly ours: boolean;
  readonly state: RecordState;
}

export type Stored = 'stored' | 'fenced' | 'not_stored';

/** For a WHERE: true as long as the record is this run's to go on with. */
export interface Condition {
  readonly text: string;
  readonly params: readonly SqlValue[];
}

/** A statement about another table that is committed with a step of the record; it must hold the condition. */
export type LocalWrite = (ours: Condition) => Statement;

export interface Rows {
  /** The row that is claimed now, or the record that has the key already, or nothing when the disk took neither. */
  claim(claim: Claim): Promise<RowId | FoundRecord | undefined>;
  storeEvidence(row: RowId, evidence: Evidence, writes?: readonly LocalWrite[]): Promise<Stored>;
  storeResult(row: RowId, verdict: Verdict, writes?: readonly LocalWrite[]): Promise<Stored>;
  find(key: RecordKey): Promise<FoundRecord | undefined>;
  /** Takes over what an earlier run left open. Throws `Failure`. */
  adopt(namespace: Namespace): Promise<void>;
  /** Open records of ours, newest first. */
  open(namespace: Namespace, status: 'claimed' | 'signed', limit: number): Promise<readonly FoundRecord[]>;
  /** Every record of a turn, oldest first. */
  ofTurn(namespace: Namespace, turnId: string): Promise<readonly FoundRecord[]>;
  count(namespace: Namespace): Promise<number>;
}

export interface RowsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** Unique to this run of the broker. */
  readonly owner: string;
}

/** What was read is kept this long for retries; then a tombstone is left ("The host MUST retain records"). */
export const READ_KEPT_MS = 3_600_000;
/** Discarded along with one result: enough to keep up, little enough to go unnoticed. */
const DISCARDED_AT_ONCE = 32;

const COLUMNS = 'id, request_id, digest, action, owner, status, event, accepted, result';

export function openRows({ store, clock, log, owner }: RowsOptions): Rows {
  const numbers = new Map<string, number>();

  /** The number that stands for a namespace in its rows; given once, and for ever. */
  async function numberOf({ community, principal }: Namespace): Promise<number> {
    const name = `${principal} ${community}`;
    const select = sql('SELECT id FROM journal_namespace WHERE community = ? AND principal = ?', community, principal);
    const insert = sql(
      'INSERT OR IGNORE INTO journal_namespace (community, principal) VALUES (?, ?)',
      community,
      principal,
    );
    const known = numbers.get(name);
    if (known !== undefined) return known;
    const [found] = await store.read(select);
    const number = wholeOf(found ?? (await store.write(insert, select))[1]?.rows[0] ?? {}, 'id');
    numbers.set(name, number);
    return number;
  }

  async function list(
    namespace: Namespace,
    text: string,
    ...params: Statement['params']
  ): Promise<readonly FoundRecord[]> {
    const where = `SELECT ${COLUMNS} FROM journal WHERE namespace = ? AND ${text}`;
    const rows = await store.read(sql(where, await numberOf(namespace), ...params));
    return rows.map((row) => recordOf(row, namespace, owner));
  }

  async function find({ requestId, ...namespace }: RecordKey): Promise<FoundRecord | undefined> {
    const [found] = await list(namespace, 'request_id = ?', requestId);
    return found;
  }

  /** Goes on with a row of ours, if it is. Others' writes come first: they see the row as it was before the step. */
  async function goOn(step: Statement, writes: readonly Statement[], more: readonly Statement[] = []): Promise<Stored> {
    try {
      const written = await store.write(...writes, step, ...more);
      return written[writes.length]?.changes === 1 ? 'stored' : 'fenced';
    } catch (error) {
      notStored(error);
      return 'not_stored';
    }
  }

  function notStored(error: unknown): void {
    if (!(error instanceof Failure)) throw error;
    log.error('journal: a record could not be written', { code: error.code, detail: error.message });
  }

  return {
    find,
    async claim({ key, digest, action, turnId, evidence }) {
      try {
        const row = [await numberOf(key), key.requestId, digest, action, turnId ?? null, owner, clock.now()];
        const [written] = await store.write(
          evidence === undefined ? sql(CLAIM, ...row) : sql(CLAIM_SIGNED, ...row, JSON.stringify(evidence.event)),
        );
        return written?.changes === 1 ? written.addedId : await find(key);
      } catch (error) {
        notStored(error);
        return undefined;
      }
    },
    async storeEvidence(row, evidence, writes = []) {
      const accepted = evidence.action === ATTACHING ? verdictToText(evidence.accepted) : null;
      const ours: Condition = { text: `EXISTS (SELECT 1 FROM journal WHERE ${SIGNABLE})`, params: [row, owner] };
      const sign = sql(EVIDENCE, JSON.stringify(evidence.event), accepted, row, owner);
      return await goOn(sign, writes.map((write) => write(ours)));
    },
    async storeResult(row, verdict, writes = []) {
      const finishable = verdict.status === 'succeeded' ? FINISHABLE_AS_SEEN : FINISHABLE;
      const ours: Condition = { text: `EXISTS (SELECT 1 FROM journal WHERE ${finishable})`, params: [row, owner] };
      // Only reading fills the journal with what was read, so reading is what makes room.
      const isRead = verdict.status === 'succeeded' && (verdict.action === 'channel.read' || verdict.action === 'storage.get');
      const room = isRead ? [sql(DISCARD, clock.now() - READ_KEPT_MS, DISCARDED_AT_ONCE)] : [];
      return await goOn(sql(FINISH + finishable, verdictToText(verdict), row, owner), writes.map((write) => write(ours)), room);
    },
    async adopt(namespace) {
      const text = "UPDATE journal SET owner = ? WHERE namespace = ? AND status <> 'done'";
      await store.write(sql(text, owner, await numberOf(namespace)));
    },
    open: (namespace, status, limit) =>
      list(namespace, `status <> 'done' AND status = ? AND owner = ? ORDER BY id DESC LIMIT ?`, status, owner, limit),
    ofTurn: (namespace, turnId) => list(namespace, 'turn = ? ORDER BY id', turnId),
    async count(namespace) {
      const text = 'SELECT count(*) AS n FROM journal WHERE namespace = ?';
      const [row = {}] = await store.read(sql(text, await numberOf(namespace)));
      return wholeOf(row, 'n');
    },
  };
}

const CLAIM = `INSERT INTO journal
  (namespace, request_id, digest, action, turn, owner, claimed_at_ms, status)
  VALUES (?, ?, ?, ?, ?, ?, ?, 'claimed')
  ON CONFLICT (namespace, request_id) DO NOTHING`;
const CLAIM_SIGNED = `INSERT INTO journal
  (namespace, request_id, digest, action, turn, owner, claimed_at_ms, event, status)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'signed')
  ON CONFLICT (namespace, request_id) DO NOTHING`;

const SIGNABLE = "id = ? AND owner = ? AND status = 'claimed'";
const EVIDENCE = `UPDATE journal SET status = 'signed', event = ?, accepted = ? WHERE ${SIGNABLE}`;

const FINISHABLE = "id = ? AND owner = ? AND status <> 'done'";
/** What was given up belongs to nobody: any run that sees its event may say so, and nothing else. */
const FINISHABLE_AS_SEEN = `id = ?
  AND (owner = ? AND status <> 'done' OR json_extract(result, '$.status') = 'indeterminate')`;
const FINISH = "UPDATE journal SET status = 'done', result = ? WHERE ";

const DISCARD = `UPDATE journal SET result = NULL WHERE id IN (
  SELECT id FROM journal WHERE action IN ('channel.read', 'storage.get') AND result IS NOT NULL AND claimed_at_ms < ? LIMIT ?)`;

function recordOf(row: Row, { community, principal }: Namespace, owner: string): FoundRecord {
  return {
    row: wholeOf(row, 'id'),
    key: { community, principal, requestId: textOf(row, 'request_id') },
    digest: textOf(row, 'digest'),
    ours: textOf(row, 'owner') === owner,
    state: stateOf(row),
  };
}

function stateOf(row: Row): RecordState {
  const evidence = evidenceOf(row);
  const result = row['result'];
  switch (row['status']) {
    case 'claimed':
      return { status: 'claimed' };
    case 'signed':
      return evidence === undefined ? corrupt('event') : { status: 'doubtful', evidence };
    case 'done':
      if (typeof result !== 'string') return { status: 'discarded' };
      return atRest(verdictFromText(result), evidence);
    default:
      return corrupt('status');
  }
}

function evidenceOf(row: Row): Evidence | undefined {
  const text = row['event'];
  if (typeof text !== 'string') return undefined;
  const action = textOf(row, 'action');
  const event = eventFromText(text);
  if (isPublishing(action)) return { action, event };
  const accepted = action === ATTACHING ? verdictFromText(textOf(row, 'accepted')) : corrupt('action');
  const isOwn = accepted.status === 'succeeded' && accepted.action === ATTACHING;
  return isOwn ? { action: ATTACHING, event, accepted } : corrupt('accepted');
}

/** Verified like any event from outside: what is sent again must be what was signed. */
function eventFromText(text: string): VerifiedEvent {
  const parsed = parseEvent(parseJson(text));
  const verified = parsed.ok ? verifyEvent(parsed.event) : parsed;
  return verified.ok ? verified.event : corrupt('event');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return corrupt('event');
  }
}

function textOf(row: Row, column: string): string {
  const value = row[column];
  return typeof value === 'string' ? value : corrupt(column);
}

function wholeOf(row: Row, column: string): number {
  const value = row[column];
  return typeof value === 'number' ? value : corrupt(column);
}

function corrupt(column: string): never {
  throw new Failure('storage_corrupt', `journal: column ${column} holds what skep did not write`);
}
