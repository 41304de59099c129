/**
 * Credentials for programs that skep does not run: issued by the operator, durable, scoped, bound for life to one agent
 * principal, community and owner. A token is told once; rotation gives another and keeps id and retry namespace.
 * Whatever ends a token ends it in memory first, so that it is over on the next byte, and then on disk.
 * NIP-BA "Session and transport".
 */
import { excerpt, Failure, later, refuse } from '../model/index.ts';
import type { Clock, Log, Milliseconds, Pubkey, Random, Refusal } from '../model/index.ts';
import type { Store } from '../store/index.ts';
import { openCredentialRows } from './credential-rows.ts';
import type { CredentialRow } from './credential-rows.ts';
import { readScope } from './credential-scope.ts';
import type { CredentialDesk, CredentialOrder, IssuedCredential, SessionEntry } from './credential-ports.ts';
import type { Session } from './sessions.ts';
import { newSessionId, newToken, openTokenTable } from './tokens.ts';

/** An agent of this broker. */
export interface Holder {
  readonly name: string;
  readonly pubkey: Pubkey;
  readonly owner: Pubkey;
}

export interface Credentials {
  find(token: string): Session | undefined;
  issue: CredentialDesk['issue'];
  rotate: CredentialDesk['rotate'];
  revoke: CredentialDesk['revoke'];
  list(): readonly SessionEntry[];
}

export interface CredentialsOptions {
  readonly store: Store;
  /** For stamps, and for expiry, which is stored. */
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly community: string;
  readonly holders: () => readonly Holder[];
  readonly endpoint: () => { readonly endpoint: string; readonly lasting: boolean };
}

/** Live and ended ones together; beyond it none is issued. */
export const MAX_CREDENTIALS = 1_000;
/** Ended ones are listed this long; the next issue then drops them. */
export const ENDED_KEPT_MS = 30 * 86_400_000;
/** What `usedAtMs` on disk may lag behind. */
export const USE_STORED_EVERY_MS = 60_000;

interface Held {
  row: CredentialRow;
  /** Ends the present token. */
  end: () => void;
}

/** Throws the store's `Failure`. */
export async function openCredentials(options: CredentialsOptions): Promise<Credentials> {
  const { store, clock, random, log, community, holders, endpoint } = options;
  const rows = openCredentialRows(store);
  const held = new Map<string, Held>();
  const byToken = openTokenTable<{ readonly session: Session; readonly id: string }>();

  /** Admits the token of that digest, under the id and binding of the row. */
  function admit(row: CredentialRow): Held {
    let ended = false;
    const { id, digest, actions, channels, expiresAtMs } = row;
    const session: Session = {
      sessionId: id, principal: row.principal, community: row.community, owner: row.owner,
      scope: { ...(actions && { actions: new Set(actions) }), ...(channels && { channels: new Set(channels) }) },
      turn: () => undefined,
      live: () => !ended && !isOver(expiresAtMs, clock.now()),
      // No process of ours has it, and so nobody asks.
      countTrace: () => undefined,
    };
    byToken.add(digest, { session, id });
    return {
      row,
      end: () => {
        ended = true;
        byToken.remove(digest);
      },
    };
  }

  for (const row of await rows.all()) {
    const entry = row.revokedAtMs === undefined && row.community === community ? admit(row) : { row, end: () => undefined };
    held.set(row.id, entry);
  }

  function stateOf({ principal, owner, community: bound, expiresAtMs, revokedAtMs }: CredentialRow): SessionEntry['state'] {
    if (revokedAtMs !== undefined) return 'revoked';
    if (isOver(expiresAtMs, clock.now())) return 'expired';
    const holder = holders().find(({ pubkey }) => pubkey === principal);
    return holder?.owner === owner && bound === community ? 'live' : 'unusable';
  }

  function touch(id: string): void {
    const found = held.get(id);
    const nowMs = clock.now();
    if (found === undefined || nowMs - (found.row.usedAtMs ?? 0) < USE_STORED_EVERY_MS) return;
    found.row = { ...found.row, usedAtMs: nowMs };
    rows.setUsed(id, nowMs).catch((error: unknown) => {
      log.warn('broker: the use of a credential could not be recorded', { session: id, error });
    });
  }

  /** Makes room of what has ended long ago. */
  async function sweep(): Promise<void> {
    for (const [id, { row, end }] of held) {
      const endedAtMs = row.revokedAtMs ?? row.expiresAtMs;
      if (endedAtMs === undefined || endedAtMs + ENDED_KEPT_MS > clock.now()) continue;
      end();
      held.delete(id);
      await rows.remove(id);
    }
  }

  function issued({ id, principal, expiresAtMs }: CredentialRow, token: string): { readonly ok: true; readonly issued: IssuedCredential } {
    const agent = holders().find(({ pubkey }) => pubkey === principal)?.name ?? principal;
    return { ok: true, issued: { id, token, agent, ...endpoint(), ...(expiresAtMs === undefined ? {} : { expiresAtMs }) } };
  }

  async function issue(order: CredentialOrder): Promise<ReturnType<typeof issued> | Refusal> {
    const matching = holders().filter(({ name, pubkey }) => name === order.agent || pubkey === order.agent);
    const [holder] = matching;
    if (holder === undefined) return refuse('unknown_agent', `agent: expected the name or the pubkey of an agent that runs here; there are ${holders().map(({ name }) => excerpt(name)).join(', ')}`);
    if (matching.length > 1) return refuse('unknown_agent', 'agent: several agents have this name, expected a pubkey');
    const scope = readScope(order);
    if (!scope.ok) return scope;
    await sweep();
    if (held.size >= MAX_CREDENTIALS) return refuse('too_many', `there are ${held.size} credentials, expected fewer than ${MAX_CREDENTIALS}; revoke some`);
    const { token, digest } = newToken(random);
    const nowMs = clock.now();
    const row: CredentialRow = {
      id: newSessionId(random), digest, principal: holder.pubkey, community, owner: holder.owner, ...scope.scope, createdAtMs: nowMs,
      ...(order.lifetimeMs === undefined ? {} : { expiresAtMs: later(nowMs, order.lifetimeMs) }),
    };
    await rows.insert(row);
    held.set(row.id, admit(row));
    log.info('broker: a credential was issued', { session: row.id, agent: holder.name });
    return issued(row, token);
  }

  async function rotate(id: string): Promise<ReturnType<typeof issued> | Refusal> {
    const found = held.get(id);
    if (found === undefined) return refuse('unknown_id', UNKNOWN_ID);
    const { token, digest } = newToken(random);
    if (stateOf(found.row) !== 'live') return refuse('ended', `this credential is ${stateOf(found.row)}; issue another`);
    await rows.setDigest(id, digest);
    // It may have been revoked while the disk was busy; what is on disk then stays revoked, too.
    if (found.row.revokedAtMs !== undefined) return refuse('ended', 'this credential is revoked; issue another');
    found.end();
    Object.assign(found, admit({ ...found.row, digest }));
    log.info('broker: a credential was rotated', { session: id });
    return issued(found.row, token);
  }

  async function revoke(id: string): Promise<{ readonly ok: true } | Refusal> {
    const found = held.get(id);
    if (found === undefined) return refuse('unknown_id', UNKNOWN_ID);
    found.end();
    const atMs = found.row.revokedAtMs ?? clock.now();
    found.row = { ...found.row, revokedAtMs: atMs };
    try {
      await rows.setRevoked(id, atMs);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      throw new Failure(error.code, `${error.message}; the credential has ended, but would be back at the next start: revoke it again`, { cause: error });
    }
    log.info('broker: a credential was revoked', { session: id });
    return { ok: true };
  }

  return {
    find(token) {
      const found = byToken.find(token);
      if (found === undefined || !found.session.live()) return undefined;
      touch(found.id);
      return found.session;
    },
    issue, rotate, revoke,
    list: () => [...held.values()].map(({ row }) => {
      const { id, principal, label, actions, channels, createdAtMs, expiresAtMs, revokedAtMs, usedAtMs } = row;
      return {
        id, sort: 'issued', state: stateOf(row), pubkey: principal,
        agent: holders().find(({ pubkey }) => pubkey === principal)?.name ?? principal,
        ...(label === undefined ? {} : { label }),
        ...(actions === undefined ? {} : { actions }),
        ...(channels === undefined ? {} : { channels }),
        createdAtMs,
        ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
        ...(revokedAtMs === undefined ? {} : { revokedAtMs }),
        ...(usedAtMs === undefined ? {} : { usedAtMs }),
      };
    }),
  };
}

const UNKNOWN_ID = 'id: expected that of an issued credential; skep session list shows them';

function isOver(expiresAtMs: Milliseconds | undefined, nowMs: Milliseconds): boolean {
  return expiresAtMs !== undefined && expiresAtMs <= nowMs;
}
