/**
 * The sessions of agent processes that skep runs: credentials in memory, bound for life to one agent principal,
 * community and owner, each ending with its process. The token itself is handed out once.
 *
 * A session object stays with a request that came in under it; `live` is looked at again at the effect's edge and
 * before a result is released, so that revocation takes effect on the next byte.
 */
import type { ChannelId, Clock, Milliseconds, Pubkey, Random } from '../model/index.ts';
import type { SessionEntry, TurnBinding } from './credential-ports.ts';
import { newSessionId, newToken, openTokenTable } from './tokens.ts';
import type { ActionName } from './wire/index.ts';

export interface Session extends Principal {
  /** Not a secret: names the session in logs and lists. */
  readonly sessionId: string;
  readonly scope: Scope;
  /** The turn in flight, or none between turns. */
  turn(): TurnBinding | undefined;
  live(): boolean;
  /** An action that may leave something behind begins. */
  countTrace(): void;
}

/** What a credential is good for, of what its agent may; a member that is absent leaves all of it. */
export interface Scope {
  readonly actions?: ReadonlySet<ActionName>;
  readonly channels?: ReadonlySet<ChannelId>;
}

export interface Principal {
  readonly principal: Pubkey;
  readonly community: string;
  readonly owner: Pubkey;
}

export interface OpenSession {
  readonly session: Session;
  readonly openedAtMs: Milliseconds;
}

export interface Sessions {
  /** A new credential; `token` exists nowhere else afterwards. */
  open(principal: Principal): { readonly session: Session; readonly token: string };
  /** The live session of a token, in time that does not depend on the token's bytes. */
  find(token: string): Session | undefined;
  /** Binds the turn of a session; one that is closed stays as it is. */
  bindTurn(sessionId: string, turn: TurnBinding | undefined): void;
  /** How many actions under it may have left something behind; 0 for one that is closed. */
  traces(sessionId: string): number;
  close(sessionId: string): void;
  /** Every session of that principal. */
  closeOf(principal: Pubkey): void;
  closeAll(): void;
  list(): readonly OpenSession[];
}

export interface SessionsOptions {
  readonly random: Random;
  /** For stamps. */
  readonly clock: Clock;
}

export function openSessions({ random, clock }: SessionsOptions): Sessions {
  const byToken = openTokenTable<Session>();
  const byId = new Map<string, Entry>();

  function remove(entry: Entry): void {
    entry.end();
    byToken.remove(entry.digest);
    byId.delete(entry.session.sessionId);
  }

  return {
    open(principal) {
      const { token, digest } = newToken(random);
      const entry = entryOf(newSessionId(random), digest, principal, clock.now());
      byToken.add(digest, entry.session);
      byId.set(entry.session.sessionId, entry);
      return { session: entry.session, token };
    },
    find: (token) => byToken.find(token),
    bindTurn(sessionId, turn) {
      byId.get(sessionId)?.bind(turn);
    },
    traces: (sessionId) => byId.get(sessionId)?.traces() ?? 0,
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
    list: () => [...byId.values()].map(({ session, openedAtMs }) => ({ session, openedAtMs })),
  };
}

interface Entry extends OpenSession {
  readonly digest: string;
  bind(turn: TurnBinding | undefined): void;
  traces(): number;
  end(): void;
}

function entryOf(sessionId: string, digest: string, principal: Principal, openedAtMs: Milliseconds): Entry {
  let bound: TurnBinding | undefined;
  let live = true;
  let traces = 0;
  return {
    session: { sessionId, ...principal, scope: {}, turn: () => bound, live: () => live, countTrace: () => { traces += 1; } },
    digest,
    openedAtMs,
    traces: () => traces,
    bind(turn) {
      bound = turn;
    },
    end() {
      live = false;
      bound = undefined;
    },
  };
}

/** A session of an agent process, as a list shows it. */
export function listed({ session, openedAtMs }: OpenSession, name: string = session.principal): SessionEntry {
  const turn = session.turn();
  return {
    id: session.sessionId, sort: 'process', state: 'live', agent: name, pubkey: session.principal, createdAtMs: openedAtMs,
    ...(turn === undefined ? {} : { turn }),
  };
}
