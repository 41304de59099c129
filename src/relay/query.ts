/**
 * Filters as SQL, and what they find. Each query reads one index in the order it answers in, so that `limit` stops it
 * early; access is a condition of the query, so that what a reader may not see takes no place in a page (NIP-AP
 * "Access control"). Statement texts are constant for a shape of filter: lists travel as one JSON parameter.
 */
import { seconds } from '../model/index.ts';
import type { Pubkey } from '../model/index.ts';
import { matchesFilter } from '../nostr/index.ts';
import type { UnverifiedEvent } from '../nostr/index.ts';
import { sql } from '../store/index.ts';
import type { SqlValue, Statement, Store } from '../store/index.ts';
import { isReader } from './access.ts';
import type { Channels } from './access.ts';
import type { RelayLimits } from './limits.ts';
import type { Query } from './messages.ts';
import { matchExpression } from './search.ts';

/** Who asks, and what they are a member of at this moment. */
export interface Reader {
  readonly pubkey: Pubkey;
  readonly channels: Channels;
}

/** True when the event is the query's, access and words apart. The SQL below finds exactly these. */
export function matchesQuery({ filter, beforeId }: Query, event: UnverifiedEvent): boolean {
  if (beforeId !== undefined && event.created_at === filter.until && event.id <= beforeId) return false;
  return matchesFilter(filter, event);
}

/** The place of the newest stored event: everything up to it is stored, everything after it is live. */
export async function newestSeq(store: Store): Promise<number> {
  const [row] = await store.read(sql('SELECT coalesce(max(seq), 0) AS seq FROM events'));
  return Number(row?.['seq'] ?? 0);
}

/**
 * Places of the events up to `untilSeq` that any of the queries finds, each once, newest first and the lower id first
 * within a second (NIP-01). `limit` counts for each query on its own.
 */
export async function findStored(
  store: Store, queries: readonly Query[], reader: Reader, untilSeq: number, limits: RelayLimits,
): Promise<readonly number[]> {
  const found = new Map<number, { readonly id: string; readonly createdAtSec: number }>();
  for (const query of queries) {
    const limit = Math.min(query.filter.limit ?? limits.defaultLimit, limits.maxLimit);
    const { from, where, params, time, copies } = select(query, reader, untilSeq);
    const rows = limit === 0 ? [] : await store.read(sql(
      `SELECT e.seq, e.id, e.created_at FROM ${from} WHERE ${where} ORDER BY ${time} DESC, e.id LIMIT ?`,
      ...params, limit * copies,
    ));
    const taken = new Set<number>();
    for (const row of rows) {
      if (taken.size === limit) break;
      taken.add(Number(row['seq']));
      found.set(Number(row['seq']), { id: String(row['id']), createdAtSec: seconds(Number(row['created_at'])) });
    }
  }
  const places = [...found];
  places.sort(([, a], [, b]) => b.createdAtSec - a.createdAtSec || (a.id < b.id ? -1 : 1));
  return places.map(([seq]) => seq);
}

/** How many events any of the queries finds (NIP-45); `limit` takes no part. */
export async function countStored(store: Store, queries: readonly Query[], reader: Reader): Promise<number> {
  const parts = queries.map((query) => select(query, reader, Number.MAX_SAFE_INTEGER));
  const union = parts.map(({ from, where }) => `SELECT e.seq FROM ${from} WHERE ${where}`).join(' UNION ALL ');
  const [row] = await store.read(sql(
    `SELECT count(DISTINCT seq) AS n FROM (${union})`, ...parts.flatMap(({ params }) => params),
  ));
  return Number(row?.['n'] ?? 0);
}

/** The texts at those places, in their order, without what was deleted or closed to the reader since. */
export async function readStored(store: Store, places: readonly number[], reader: Reader): Promise<readonly string[]> {
  const visible = visibleTo(reader);
  const rows = await store.read(sql(
    `SELECT e.seq, e.json FROM events e WHERE e.seq IN (SELECT value FROM json_each(?)) AND ${visible.sql}`,
    JSON.stringify(places), ...visible.params,
  ));
  const texts = new Map(rows.map((row) => [Number(row['seq']), String(row['json'])]));
  return places.flatMap((seq) => texts.get(seq) ?? []);
}

interface Selection {
  readonly from: string;
  readonly where: string;
  readonly params: readonly SqlValue[];
  /** The column that carries the order of the index read. */
  readonly time: string;
  /**
   * How often one event may be found: once for each value of the tag read. DISTINCT would say so too, but reads all
   * there is before it says anything; this way the limit still stops the query. An event has one channel at most.
   */
  readonly copies: number;
}

function select({ filter, beforeId, search }: Query, reader: Reader, untilSeq: number): Selection {
  const letters = [...(filter.tags?.keys() ?? [])].sort((a, b) => selectivity(a) - selectivity(b));
  const driving = filter.ids === undefined && search === undefined ? letters.shift() : undefined;
  const drivers = driving === undefined ? [] : (filter.tags?.get(driving) ?? []);
  const time = driving === undefined ? 'e.created_at' : 't.created_at';
  const conditions: Statement[] = [];
  if (driving !== undefined) conditions.push(sql('t.letter = ?', driving), oneOf('t.value', drivers));
  if (search !== undefined) conditions.push(sql('w.words MATCH ?', matchExpression(search)));
  if (filter.ids !== undefined) conditions.push(oneOf('e.id', filter.ids));
  if (filter.authors !== undefined) conditions.push(oneOf('e.pubkey', filter.authors));
  if (filter.kinds !== undefined) conditions.push(oneOf('e.kind', filter.kinds));
  for (const letter of letters) {
    const value = oneOf('x.value', filter.tags?.get(letter) ?? []);
    conditions.push(sql(
      `EXISTS (SELECT 1 FROM tags x WHERE x.event = e.seq AND x.letter = ? AND ${value.sql})`, letter, ...value.params,
    ));
  }
  conditions.push(sql(`${time} >= ? AND ${time} <= ?`, filter.since ?? 0, filter.until ?? Number.MAX_SAFE_INTEGER));
  if (beforeId !== undefined) conditions.push(sql(`(${time} < ? OR e.id > ?)`, filter.until ?? 0, beforeId));
  conditions.push(sql('e.seq <= ?', untilSeq), visibleTo(reader));
  return {
    from: fromOf(filter, driving, search),
    where: conditions.map((condition) => condition.sql).join(' AND '),
    params: conditions.flatMap((condition) => condition.params),
    time,
    copies: driving === 'h' ? 1 : Math.max(1, drivers.length),
  };
}

/** `access.ts` in SQL. An event of a channel we do not know has no readers. */
function visibleTo({ pubkey, channels }: Reader): Statement {
  const readable = [...channels.values()].filter((channel) => isReader(channel, pubkey)).map(({ id }) => id);
  return sql(
    `(e.gate = 'all'
      OR e.gate IN ('author', 'participants') AND e.pubkey = ?
      OR e.gate IN ('recipients', 'participants')
        AND EXISTS (SELECT 1 FROM tags r WHERE r.event = e.seq AND r.letter = 'p' AND r.value = ?))
     AND (e.channel IS NULL OR e.channel IN (SELECT value FROM json_each(?)))`,
    pubkey, pubkey, JSON.stringify(readable),
  );
}

/** One value by equality, so that its index also gives the order; several as one parameter. */
function oneOf(column: string, wanted: readonly (string | number)[]): Statement {
  // Stored text is well-formed; SQLite would take a lone surrogate for U+FFFD and find that.
  const possible = wanted.filter((value) => typeof value === 'number' || value.isWellFormed());
  const [only] = possible;
  if (possible.length === 1 && only !== undefined) return sql(`${column} = ?`, only);
  return sql(`${column} IN (SELECT value FROM json_each(?))`, JSON.stringify(possible));
}

function fromOf(filter: Query['filter'], driving: string | undefined, search: string | undefined): string {
  if (search !== undefined) return 'words w CROSS JOIN events e ON e.seq = w.rowid';
  return driving === undefined ? `events e ${indexFor(filter)}` : 'tags t CROSS JOIN events e ON e.seq = t.event';
}

/** Left alone, SQLite may walk all of time to save a sort. */
function indexFor(filter: Query['filter']): string {
  if (filter.ids !== undefined) return '';
  if (filter.authors !== undefined) return 'INDEXED BY events_author';
  return filter.kinds === undefined ? 'INDEXED BY events_time' : 'INDEXED BY events_kind';
}

/** Tags that name one event or address find few; a channel finds most. */
function selectivity(letter: string): number {
  const known = ['e', 'a', 'd', 'p'].indexOf(letter);
  if (known >= 0) return known;
  return letter === 'h' ? 9 : 5;
}
