/**
 * Session credentials (NIP-BA "Session and transport"): 32 random bytes each, bound for life to one agent principal,
 * community and owner. Only the SHA-256 of a token is kept, and the token itself is handed out once.
 *
 * A session object stays with a request that came in under it; `live` is looked at again at the effect's edge and
 * before a result is released, so that revocation takes effect on the next byte.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import type { Pubkey, Random } from '../model/index.ts';
import type { TurnBinding } from './ports.ts';

export interface Session {
  /** Not a secret: names the session in logs and status. */
  readonly sessionId: string;
  readonly principal: Pubkey;
  readonly community: string;
  readonly owner: Pubkey;
  /** The turn in flight, or none between turns. */
  turn(): TurnBinding | undefined;
  live(): boolean;
}

export interface Principal {
  readonly principal: Pubkey;
  readonly community: string;
  readonly owner: Pubkey;
}

export interface Sessions {
  /** A new credential; `token` exists nowhere else afterwards. */
  open(principal: Principal): { readonly session: Session; readonly token: string };
  /** The live session of a token, in time that does not depend on the token's bytes. */
  find(token: string): Session | undefined;
  /** Binds the turn of a session; one that is closed stays as it is. */
  bindTurn(sessionId: string, turn: TurnBinding | undefined): void;
  close(sessionId: string): void;
  /** Every session of that principal. */
  closeOf(principal: Pubkey): void;
  closeAll(): void;
}

const TOKEN_BYTES = 32;
const SESSION_ID_BYTES = 8;
/** 32 bytes as base64url without padding. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

export function openSessions(random: Random): Sessions {
  const byDigest = new Map<string, Entry>();
  const byId = new Map<string, Entry>();

  function remove(entry: Entry): void {
    entry.end();
    byDigest.delete(entry.digest.toString('hex'));
    byId.delete(entry.session.sessionId);
  }

  return {
    open(principal) {
      const token = Buffer.from(random.bytes(TOKEN_BYTES)).toString('base64url');
      const sessionId = Buffer.from(random.bytes(SESSION_ID_BYTES)).toString('hex');
      const entry = entryOf(sessionId, digestOf(token), principal);
      byDigest.set(entry.digest.toString('hex'), entry);
      byId.set(sessionId, entry);
      return { session: entry.session, token };
    },
    find(token) {
      if (!TOKEN.test(token)) return undefined;
      const digest = digestOf(token);
      // The look-up is by digest: what its time tells is about SHA-256 of the token, which leads nobody to the token.
      const entry = byDigest.get(digest.toString('hex'));
      return entry !== undefined && timingSafeEqual(entry.digest, digest) ? entry.session : undefined;
    },
    bindTurn(sessionId, turn) {
      byId.get(sessionId)?.bind(turn);
    },
    close(sessionId) {
      const entry = byId.get(sessionId);
      if (entry !== undefined) remove(entry);
    },
    closeOf(principal) {
      for (const entry of [...byId.values()]) if (entry.session.principal === principal) remove(entry);
    },
    closeAll() {
      for (const entry of [...byId.values()]) remove(entry);
    },
  };
}

interface Entry {
  readonly session: Session;
  readonly digest: Buffer;
  bind(turn: TurnBinding | undefined): void;
  end(): void;
}

function entryOf(sessionId: string, digest: Buffer, principal: Principal): Entry {
  let bound: TurnBinding | undefined;
  let live = true;
  return {
    session: { sessionId, ...principal, turn: () => bound, live: () => live },
    digest,
    bind(turn) {
      bound = turn;
    },
    end() {
      live = false;
      bound = undefined;
    },
  };
}

function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
