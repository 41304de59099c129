/**
 * The inbox table: the only SQL of the supervisor. A row is kept for ever as the memory of what was handled, so that a
 * relay may deliver an event as often as it likes; its body is dropped when the entry ends.
 */
import { channelId, eventId, milliseconds, pubkey } from '../../model/index.ts';
import type { ChannelId, EventId, Pubkey } from '../../model/index.ts';
import { parseEvent } from '../../nostr/index.ts';
import { sql } from '../../store/index.ts';
import type { Row, Statement, Store } from '../../store/index.ts';
import type { Entry } from './entry.ts';
import type { Save } from './machine.ts';

/** An entry that was in a turn when the supervisor stopped, with the turn it was in. */
export interface Stranded {
  readonly turnId: string;
  readonly entry: Entry;
}

export interface InboxRows {
  readonly queued: readonly Entry[];
  readonly stranded: readonly Stranded[];
}

type LaneOf = (channelId: ChannelId, destination: EventId) => string;

/** One change as a statement. Ownership is in the WHERE: a row that has ended is never changed again. */
export function saveStatement(agent: Pubkey, save: Save): Statement {
  switch (save.change) {
    case 'insert':
      return insert(agent, save.entry);
    case 'dispatched':
      return sql(
        "UPDATE inbox SET status = 'dispatched', turn = ? WHERE agent = ? AND event_id = ? AND status = 'queued'",
        save.turnId, agent, save.eventId,
      );
    case 'queued':
      return sql(
        `UPDATE inbox SET status = 'queued', attempts = ?, interrupted = ?, not_before_ms = ?, outcome = ?, turn = NULL
         WHERE agent = ? AND event_id = ? AND status = 'dispatched'`,
        save.entry.attempts, save.entry.interrupted ? 1 : 0, save.entry.notBeforeMs, save.outcome, agent, save.entry.eventId,
      );
    case 'done':
    case 'dead':
      return sql(
        `UPDATE inbox SET status = ?, outcome = ?, event = NULL
         WHERE agent = ? AND event_id = ? AND status IN ('queued', 'dispatched')`,
        save.change, save.outcome, agent, save.eventId,
      );
  }
}

/** True when the agent has accepted this event before, whatever became of it. */
export async function knows(store: Store, agent: Pubkey, id: EventId): Promise<boolean> {
  const rows = await store.read(sql('SELECT 1 AS found FROM inbox WHERE agent = ? AND event_id = ?', agent, id));
  return rows.length > 0;
}

/** The hop count of the newest accepted event of a channel; 0 when there is none. */
export async function lastHops(store: Store, agent: Pubkey, channel: ChannelId): Promise<number> {
  const rows = await store.read(
    sql('SELECT hops FROM inbox WHERE agent = ? AND channel = ? ORDER BY seq DESC LIMIT 1', agent, channel),
  );
  return rows[0] === undefined ? 0 : whole(rows[0], 'hops');
}

export interface StoredCounts {
  readonly queued: number;
  readonly dispatched: number;
  readonly done: number;
  readonly dead: number;
}

/** The agent's rows by status. */
export async function storedCounts(store: Store, agent: Pubkey): Promise<StoredCounts> {
  const rows = await store.read(sql('SELECT status, COUNT(*) AS n FROM inbox WHERE agent = ? GROUP BY status', agent));
  const count = (status: string): number => {
    const row = rows.find((one) => one['status'] === status);
    return row === undefined ? 0 : whole(row, 'n');
  };
  return { queued: count('queued'), dispatched: count('dispatched'), done: count('done'), dead: count('dead') };
}

/** What the last run left, in arrival order. */
export async function loadInbox(store: Store, agent: Pubkey, laneOf: LaneOf): Promise<InboxRows> {
  const rows = await store.read(
    sql("SELECT * FROM inbox WHERE agent = ? AND status IN ('queued', 'dispatched') ORDER BY seq", agent),
  );
  const queued: Entry[] = [];
  const stranded: Stranded[] = [];
  for (const row of rows) {
    const entry = toEntry(row, laneOf);
    if (row['status'] === 'queued') queued.push(entry);
    else stranded.push({ turnId: text(row, 'turn'), entry });
  }
  return { queued, stranded };
}

function insert(agent: Pubkey, entry: Entry): Statement {
  return sql(
    `INSERT INTO inbox (agent, event_id, channel, destination, author, rule, hops, received_at_ms, status, event)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?)`,
    agent, entry.eventId, entry.channelId, entry.destination, entry.author, entry.rule, entry.hops, entry.receivedAtMs,
    JSON.stringify(entry.event),
  );
}

function toEntry(row: Row, laneOf: LaneOf): Entry {
  const parsed = parseEvent(JSON.parse(text(row, 'event')));
  if (!parsed.ok) throw new TypeError(`inbox row: ${parsed.detail}`);
  const channel = channelId(text(row, 'channel'));
  const destination = eventId(text(row, 'destination'));
  return {
    eventId: eventId(text(row, 'event_id')),
    channelId: channel,
    lane: laneOf(channel, destination),
    destination,
    author: pubkey(text(row, 'author')),
    rule: text(row, 'rule'),
    hops: whole(row, 'hops'),
    receivedAtMs: milliseconds(whole(row, 'received_at_ms')),
    attempts: whole(row, 'attempts'),
    interrupted: whole(row, 'interrupted') !== 0,
    notBeforeMs: milliseconds(whole(row, 'not_before_ms')),
    event: parsed.event,
  };
}

function text(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw new TypeError(`inbox row: ${column}: expected text`);
  return value;
}

function whole(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw new TypeError(`inbox row: ${column}: expected an integer`);
  return value;
}
