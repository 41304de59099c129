/** Issued credentials on disk: every statement and every parsed row in one place. Of a token only its digest is there. */
import { asChannelId, asPubkey, Failure, milliseconds } from '../model/index.ts';
import type { ChannelId, Milliseconds, Pubkey } from '../model/index.ts';
import { sql } from '../store/index.ts';
import type { Row, Store } from '../store/index.ts';
import { actionNamed } from './wire/index.ts';
import type { ActionName } from './wire/index.ts';

export interface CredentialRow {
  readonly id: string;
  /** SHA-256 of the present token, in hex. */
  readonly digest: string;
  readonly principal: Pubkey;
  readonly community: string;
  readonly owner: Pubkey;
  readonly label?: string;
  readonly actions?: readonly ActionName[];
  readonly channels?: readonly ChannelId[];
  readonly createdAtMs: Milliseconds;
  readonly expiresAtMs?: Milliseconds;
  readonly revokedAtMs?: Milliseconds;
  readonly usedAtMs?: Milliseconds;
}

export interface CredentialRows {
  all(): Promise<readonly CredentialRow[]>;
  insert(row: CredentialRow): Promise<void>;
  setDigest(id: string, digest: string): Promise<void>;
  setRevoked(id: string, atMs: Milliseconds): Promise<void>;
  setUsed(id: string, atMs: Milliseconds): Promise<void>;
  remove(id: string): Promise<void>;
}

const INSERT = `INSERT INTO credentials
  (id, digest, principal, community, owner, label, actions, channels, created_at_ms, expires_at_ms)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

export function openCredentialRows(store: Store): CredentialRows {
  return {
    async all() {
      return (await store.read(sql('SELECT * FROM credentials ORDER BY created_at_ms, id'))).map(rowOf);
    },
    async insert({ id, digest, principal, community, owner, label, actions, channels, createdAtMs, expiresAtMs }) {
      await store.write(sql(
        INSERT, id, digest, principal, community, owner, label ?? null, listText(actions), listText(channels), createdAtMs,
        expiresAtMs ?? null,
      ));
    },
    async setDigest(id, digest) {
      await store.write(sql('UPDATE credentials SET digest = ? WHERE id = ? AND revoked_at_ms IS NULL', digest, id));
    },
    async setRevoked(id, atMs) {
      await store.write(sql('UPDATE credentials SET revoked_at_ms = ? WHERE id = ? AND revoked_at_ms IS NULL', atMs, id));
    },
    async setUsed(id, atMs) {
      await store.write(sql('UPDATE credentials SET used_at_ms = ? WHERE id = ?', atMs, id));
    },
    async remove(id) {
      await store.write(sql('DELETE FROM credentials WHERE id = ?', id));
    },
  };
}

function listText(words: readonly string[] | undefined): string | null {
  return words === undefined ? null : JSON.stringify(words);
}

function rowOf(row: Row): CredentialRow {
  const label = row['label'];
  const actions = listOf(row, 'actions', actionNamed);
  const channels = listOf(row, 'channels', asChannelId);
  const expiresAtMs = momentOf(row, 'expires_at_ms');
  const revokedAtMs = momentOf(row, 'revoked_at_ms');
  const usedAtMs = momentOf(row, 'used_at_ms');
  return {
    id: textOf(row, 'id'),
    digest: textOf(row, 'digest'),
    principal: asPubkey(textOf(row, 'principal')) ?? corrupt('principal'),
    community: textOf(row, 'community'),
    owner: asPubkey(textOf(row, 'owner')) ?? corrupt('owner'),
    ...(typeof label === 'string' ? { label } : {}),
    ...(actions === undefined ? {} : { actions }),
    ...(channels === undefined ? {} : { channels }),
    createdAtMs: momentOf(row, 'created_at_ms') ?? corrupt('created_at_ms'),
    ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
    ...(revokedAtMs === undefined ? {} : { revokedAtMs }),
    ...(usedAtMs === undefined ? {} : { usedAtMs }),
  };
}

function textOf(row: Row, column: string): string {
  const value = row[column];
  return typeof value === 'string' ? value : corrupt(column);
}

function momentOf(row: Row, column: string): Milliseconds | undefined {
  const value = row[column];
  if (value === null) return undefined;
  return typeof value === 'number' ? milliseconds(value) : corrupt(column);
}

/** A scope that cannot be read must not become a wider one. */
function listOf<T>(row: Row, column: string, parse: (text: string) => T | undefined): readonly T[] | undefined {
  if (row[column] === null) return undefined;
  const words: unknown = parseJson(textOf(row, column), column);
  if (!Array.isArray(words)) return corrupt(column);
  return words.map((word: unknown) => (typeof word === 'string' ? parse(word) : undefined) ?? corrupt(column));
}

function parseJson(text: string, column: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return corrupt(column);
  }
}

function corrupt(column: string): never {
  throw new Failure('storage_corrupt', `credentials: column ${column} holds what skep did not write`);
}
