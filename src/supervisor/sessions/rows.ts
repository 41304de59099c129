/** The table of sessions that can be gone on with: its only SQL. */
import { milliseconds } from '../../model/index.ts';
import type { ChannelId, Milliseconds, Pubkey } from '../../model/index.ts';
import { sql } from '../../store/index.ts';
import type { Row, Statement, Store } from '../../store/index.ts';
import { deliveredFrom } from './delivered.ts';
import type { DeliveredEvents } from './delivered.ts';

export interface KeptSession {
  readonly lane: string;
  readonly channelId: ChannelId;
  readonly sessionId: string;
  readonly fingerprint: string;
  readonly inSystem: boolean;
  readonly turns: number;
  readonly turnSeq: number;
  readonly delivered: DeliveredEvents;
  readonly usedAtMs: Milliseconds;
}

/** A row as it is found: `reopenings` since its last good turn. */
export type FoundSession = Omit<KeptSession, 'lane' | 'channelId'> & { readonly reopenings: number };

/** After a good turn: a lane has one session to go on with, the one used last. */
export function keepStatement(agent: Pubkey, kept: KeptSession): Statement {
  const { lane, channelId, sessionId, fingerprint, inSystem, turns, turnSeq, delivered, usedAtMs } = kept;
  return sql(
    `INSERT OR REPLACE INTO sessions
       (agent, lane, channel, session_id, fingerprint, in_system, turns, turn_seq, reopenings, delivered, used_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?)`,
    agent, lane, channelId, sessionId, fingerprint, inSystem ? 1 : 0, turns, turnSeq, delivered.text(), usedAtMs,
  );
}

export function countStatement(agent: Pubkey, lane: string, sessionId: string, turnSeq: number): Statement {
  return sql('UPDATE sessions SET turn_seq = ? WHERE agent = ? AND lane = ? AND session_id = ?', turnSeq, agent, lane, sessionId);
}

export function reopenStatement(agent: Pubkey, lane: string): Statement {
  return sql('UPDATE sessions SET reopenings = reopenings + 1 WHERE agent = ? AND lane = ?', agent, lane);
}

export function forgetStatement(agent: Pubkey, lane: string, sessionId: string): Statement {
  return sql('DELETE FROM sessions WHERE agent = ? AND lane = ? AND session_id = ?', agent, lane, sessionId);
}

export function forgetChannelStatement(agent: Pubkey, channelId: ChannelId): Statement {
  return sql('DELETE FROM sessions WHERE agent = ? AND channel = ?', agent, channelId);
}

/** Those of any agent that are too old, and of this one all but the `most` used last. */
export function pruneStatements(agent: Pubkey, before: Milliseconds, most: number): readonly [Statement, Statement] {
  return [
    sql('DELETE FROM sessions WHERE used_at_ms < ?', before),
    sql(
      'DELETE FROM sessions WHERE agent = ? AND lane IN (SELECT lane FROM sessions WHERE agent = ? ORDER BY used_at_ms DESC LIMIT -1 OFFSET ?)',
      agent, agent, most,
    ),
  ];
}

export async function findSession(store: Store, agent: Pubkey, lane: string): Promise<FoundSession | undefined> {
  const [row] = await store.read(sql('SELECT * FROM sessions WHERE agent = ? AND lane = ?', agent, lane));
  return row && parse(row);
}

function parse(row: Row): FoundSession | undefined {
  const { session_id: sessionId, fingerprint, delivered } = row;
  if (typeof sessionId !== 'string' || typeof fingerprint !== 'string' || typeof delivered !== 'string') return undefined;
  return {
    sessionId, fingerprint, inSystem: row['in_system'] === 1, turns: whole(row, 'turns'), turnSeq: whole(row, 'turn_seq'),
    reopenings: whole(row, 'reopenings'), delivered: deliveredFrom(delivered), usedAtMs: milliseconds(whole(row, 'used_at_ms')),
  };
}

function whole(row: Row, name: string): number {
  const value = row[name];
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : 0;
}
