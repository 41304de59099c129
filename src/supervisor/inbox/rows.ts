/**
 * The inbox table: the only SQL of the supervisor. A row is kept for ever as the memory of what was handled, so that a
 * relay may deliver an event as often as it likes; its body is dropped when the entry ends.
 */
import { channelId, eventId, milliseconds, pubkey } from '../../model/index.ts';
import type { ChannelId, EventId, Pubkey } from '../../model/index.ts';
import { parseEvent } from '../../nostr/index.ts';
import { sql } from '../../store/index.ts';
import type { Row, Statement, Store } from '../../store/index.ts';
import type { HopCounts } from '../gate.ts';
import type { Batch, Entry } from './entry.ts';
import type { Save } from './machine.ts';

/**
 * What the last run left: entries that waited, in arrival order, and the turns that were in flight. `above`: of messages
 * given to a turn since, by how many of its messages they are not yet answered.
 */
export interface InboxRows {
  readonly queued: readonly Entry[];
  readonly stranded: readonly Batch[];
  readonly above: ReadonlyMap<EventId, number>;
}

/** One change as a statement. Ownership is in the WHERE: a row that has ended is never changed again. */
export function saveStatement(agent: Pubkey, save: Save): Statement {
  switch (save.change) {
    case 'insert':
      return insert(agent, save.entry);
    case 'consumed':
      return consumed(agent, save.entry, save.outcome);
    case 'dispatched':
      return sql(
        "UPDATE inbox SET status = 'dispatched', turn = ? WHERE agent = ? AND event_id = ? AND status = 'queued'",
        save.turnId, agent, save.eventId,
      );
    case 'given':
      return sql(
        `UPDATE inbox SET status = 'dispatched', turn = ?, answered_above = ?
         WHERE agent = ? AND event_id = ? AND (status = 'queued' OR (status = 'dispatched' AND turn = ?))`,
        save.turnId, save.above, agent, save.eventId, save.turnId,
      );
    case 'queued':
      return sql(
        `UPDATE inbox SET status = 'queued', attempts = ?, interrupted = ?, not_before_ms = ?, outcome = ?, turn = NULL, answered_above = 0
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

export async function hopCounts(store: Store, agent: Pubkey, channel: ChannelId, destination: EventId): Promise<HopCounts> {
  const since = (column: 'channel' | 'destination', value: string): Statement => sql(
    `SELECT COUNT(*) AS n FROM inbox WHERE agent = ? AND ${column} = ? AND seq > COALESCE(
       (SELECT MAX(seq) FROM inbox WHERE agent = ? AND ${column} = ? AND hops = 0), 0)`,
    agent, value, agent, value,
  );
  const [[inThread], [inChannel]] = await Promise.all([
    store.read(since('destination', destination)), store.read(since('channel', channel)),
  ]);
  return { inDestination: inThread === undefined ? 0 : whole(inThread, 'n'), inChannel: inChannel === undefined ? 0 : whole(inChannel, 'n') };
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

export async function loadInbox(store: Store, agent: Pubkey): Promise<InboxRows> {
  const rows = await store.read(
    sql("SELECT * FROM inbox WHERE agent = ? AND status IN ('queued', 'dispatched') ORDER BY seq", agent),
  );
  const queued: Entry[] = [];
  const stranded = new Map<string, [Entry, ...Entry[]]>();
  const above = new Map<EventId, number>();
  for (const row of rows) {
    const entry = toEntry(row);
    if (row['status'] === 'queued') queued.push(entry);
    else {
      const turnId = text(row, 'turn');
      const answeredAbove = whole(row, 'answered_above');
      if (answeredAbove > 0) above.set(entry.eventId, answeredAbove);
      const others = stranded.get(turnId);
      if (others === undefined) stranded.set(turnId, [entry]);
      else others.push(entry);
    }
  }
  return {
    queued,
    above,
    stranded: [...stranded].map(([turnId, entries]) => ({ turnId, lane: entries[0].lane, channelId: entries[0].channelId, entries })),
  };
}

function insert(agent: Pubkey, entry: Entry): Statement {
  return sql(
    `INSERT INTO inbox (agent, event_id, channel, lane, destination, author, rule, hops, received_at_ms, status, event)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?)`,
    agent, entry.eventId, entry.channelId, entry.lane, entry.destination, entry.author, entry.rule, entry.hops, entry.receivedAtMs,
    JSON.stringify(entry.event),
  );
}

function consumed(agent: Pubkey, { eventId: id, channelId: channel, lane, destination, author, rule, hops, receivedAtMs }: Entry, outcome: string): Statement {
  return sql(
    `INSERT INTO inbox (agent, event_id, channel, lane, destination, author, rule, hops, received_at_ms, status, outcome)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'done', ?)`,
    agent, id, channel, lane, destination, author, rule, hops, receivedAtMs, outcome,
  );
}

function toEntry(row: Row): Entry {
  const parsed = parseEvent(JSON.parse(text(row, 'event')));
  if (!parsed.ok) throw new TypeError(`inbox row: ${parsed.detail}`);
  return {
    eventId: eventId(text(row, 'event_id')),
    channelId: channelId(text(row, 'channel')),
    lane: text(row, 'lane'),
    destination: eventId(text(row, 'destination')),
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
