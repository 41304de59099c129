/**
 * What is kept: events into the database and out of it, all writing SQL of the relay. Conditions stand in the
 * statements themselves, so that events decided together and committed together (group commit) see each other.
 * Reading by filters is `query.ts`.
 */
import { asPubkey } from '../model/index.ts';
import type { ChannelId, EventId, Pubkey } from '../model/index.ts';
import { parseEvent } from '../nostr/index.ts';
import type { UnverifiedEvent, VerifiedEvent } from '../nostr/index.ts';
import { sql } from '../store/index.ts';
import type { Statement, Store } from '../store/index.ts';
import type { Audience } from './access.ts';
import type { NotStored } from './answers.ts';
import { addressOf, KIND } from './kinds.ts';

/** A verified event with its text and audience, each made once. */
export interface Entry {
  readonly event: VerifiedEvent;
  readonly json: string;
  readonly audience: Audience;
  /** The event in the same write that this one stands or falls with: what the relay says because of it. */
  readonly because?: EventId;
}

/**
 * Stores all entries and runs `extra` in one commit. The result is each entry's place (`seq`, rising) or undefined
 * where it was not stored; `explain` then says why. Rejects with a `Failure`, and nothing has changed.
 */
export async function keep(
  store: Store, entries: readonly Entry[], extra: readonly Statement[] = [],
): Promise<readonly (number | undefined)[]> {
  const groups = entries.map(statementsOf);
  const written = await store.write(...groups.flat(), ...extra);
  let at = 0;
  return groups.map((group) => {
    const inserted = written.slice(at, at + group.length).flatMap(({ rows }) => rows)[0];
    at += group.length;
    return inserted === undefined ? undefined : Number(inserted['seq']);
  });
}

export async function explain(store: Store, { event }: Entry): Promise<NotStored> {
  if (await contains(store, event.id)) return 'duplicate';
  const address = addressOf(event) ?? null;
  const [newer] = await store.read(sql('SELECT 1 FROM events WHERE address = ?', address));
  return newer === undefined ? 'deleted' : 'superseded';
}

export async function contains(store: Store, id: EventId): Promise<boolean> {
  return (await store.read(sql('SELECT 1 FROM events WHERE id = ?', id))).length > 0;
}

/** How many of `ids` are stored events of that author in that channel. */
export async function countOwn(
  store: Store, ids: readonly string[], author: Pubkey, channel: ChannelId,
): Promise<number> {
  const [row] = await store.read(sql(
    'SELECT count(*) AS n FROM events WHERE id IN (SELECT value FROM json_each(?)) AND pubkey = ? AND channel = ?',
    JSON.stringify(ids), author, channel,
  ));
  return Number(row?.['n'] ?? 0);
}

/** True when one of `ids` is a stored instructions version (kind 44300) of that author. */
export async function holdsInstructions(store: Store, ids: readonly string[], author: Pubkey): Promise<boolean> {
  const rows = await store.read(sql(
    `SELECT 1 FROM events WHERE id IN (SELECT value FROM json_each(?)) AND pubkey = ? AND kind = ${KIND.instructions}`,
    JSON.stringify(ids), author,
  ));
  return rows.length > 0;
}

/** NIP-09: the author's own events by id, and by address every version up to the request; never another request. */
export function removeOwn(request: VerifiedEvent): readonly Statement[] {
  return [
    sql(
      `DELETE FROM events WHERE id IN (SELECT value FROM json_each(?)) AND pubkey = ? AND kind <> ${KIND.deletion}`,
      JSON.stringify(values(request, 'e')), request.pubkey,
    ),
    sql(
      'DELETE FROM events WHERE address IN (SELECT value FROM json_each(?)) AND pubkey = ? AND created_at <= ?',
      JSON.stringify(values(request, 'a')), request.pubkey, request.created_at,
    ),
  ];
}

/** NIP-29 delete-event (9005), already permitted: events of that channel, but not what the relay says of it. */
export function removeFromChannel(request: VerifiedEvent, channel: ChannelId): Statement {
  return sql(
    `DELETE FROM events WHERE id IN (SELECT value FROM json_each(?)) AND channel = ?
     AND kind <> ${KIND.deletion} AND kind NOT BETWEEN ${KIND.groupMetadata} AND ${KIND.groupMembers}`,
    JSON.stringify(values(request, 'e')), channel,
  );
}

/** First write wins: an agent does not change hands by presenting another attestation. */
export function rememberOwner(agent: Pubkey, owner: Pubkey): Statement {
  return sql('INSERT INTO agents (agent, owner) VALUES (?, ?) ON CONFLICT (agent) DO NOTHING', agent, owner);
}

export async function ownerOf(store: Store, agent: string): Promise<Pubkey | undefined> {
  const [row] = await store.read(sql('SELECT owner FROM agents WHERE agent = ?', agent));
  const owner = row?.['owner'];
  return typeof owner === 'string' ? asPubkey(owner) : undefined;
}

/** Every stored 39000, 39001 and 39002. */
export async function channelRecords(store: Store): Promise<readonly UnverifiedEvent[]> {
  const rows = await store.read(
    sql(`SELECT json FROM events WHERE kind BETWEEN ${KIND.groupMetadata} AND ${KIND.groupMembers} ORDER BY seq`),
  );
  return rows.flatMap(({ json }) => {
    const parsed = parseEvent(JSON.parse(String(json)));
    return parsed.ok ? [parsed.event] : [];
  });
}

/** The second element of every tag called `name`. */
export function values(event: UnverifiedEvent, name: string): readonly string[] {
  return event.tags.flatMap((tag) => (tag[0] === name && tag[1] !== undefined ? [tag[1]] : []));
}

/**
 * NIP-09: a stored request keeps what it names away when it is sent again. Ids for ever, addresses up to its time.
 * A stored 9005 was checked when it came in. ?1 id, ?2 pubkey, ?3 created_at, ?4 address, ?5 channel, and
 * ?6 the event it stands or falls with.
 */
const NOT_DELETED = `
  NOT EXISTS (
    SELECT 1 FROM tags t CROSS JOIN events d ON d.seq = t.event
    WHERE t.letter = 'e' AND t.value = ?1
      AND (d.kind = ${KIND.deletion} AND d.pubkey = ?2 OR d.kind = ${KIND.deleteEvent} AND d.channel = ?5))
  AND NOT EXISTS (
    SELECT 1 FROM tags t CROSS JOIN events d ON d.seq = t.event
    WHERE t.letter = 'a' AND t.value = ?4 AND d.kind = ${KIND.deletion} AND d.pubkey = ?2 AND d.created_at >= ?3)`;

const CAUSED = '(?6 IS NULL OR EXISTS (SELECT 1 FROM events c WHERE c.id = ?6))';

/** NIP-01 "Kinds": the newest stays, and of two of one second the one with the lower id. */
const CLEAR_OLDER = `
  DELETE FROM events
  WHERE address = ?4 AND (created_at < ?3 OR created_at = ?3 AND id > ?1) AND ${NOT_DELETED} AND ${CAUSED}`;

const INSERT = `
  INSERT INTO events (id, pubkey, created_at, address, channel, kind, gate, json)
  SELECT ?1, ?2, ?3, ?4, ?5, ?7, ?8, ?9
  WHERE (?7 = ${KIND.deletion} OR ${NOT_DELETED}) AND ${CAUSED}
    AND NOT EXISTS (SELECT 1 FROM events WHERE address = ?4)
  ON CONFLICT (id) DO NOTHING RETURNING seq`;

const INSERT_TAGS = `
  INSERT OR IGNORE INTO tags (letter, value, created_at, event)
  SELECT pair.value ->> 0, pair.value ->> 1, e.created_at, e.seq
  FROM events e CROSS JOIN json_each(?) pair WHERE e.id = ?`;

function statementsOf({ event, json, audience, because }: Entry): readonly Statement[] {
  const address = addressOf(event);
  const place = [
    event.id, event.pubkey, event.created_at, address ?? null, audience.channel ?? null, because ?? null,
  ];
  const statements = [sql(INSERT, ...place, event.kind, audience.gate, json)];
  if (address !== undefined) statements.unshift(sql(CLEAR_OLDER, ...place));
  const pairs = event.tags.filter(([name, value]) => value !== undefined && /^[A-Za-z]$/.test(name ?? ''));
  if (pairs.length > 0) {
    statements.push(sql(INSERT_TAGS, JSON.stringify(pairs.map((tag) => tag.slice(0, 2))), event.id));
  }
  return statements;
}
