/**
 * Credentials of agent processes and of programs that skep does not run (NIP-BA "Session and transport"): what is issued,
 * what a list shows, where an operator gets and ends them, and the turn that a session is in.
 */
import type { ChannelId, Pubkey, Refusal } from '../model/index.ts';

/** A credential of one agent process (NIP-BA "Session and transport"). `token` goes to that process and nowhere else. */
export interface SessionCredential {
  readonly sessionId: string;
  readonly endpoint: string;
  readonly token: string;
}

/** The turn an agent process is in, told to the broker so that a journal record names the turn it belongs to. */
export interface TurnBinding {
  readonly turnId: string;
  readonly channelId: ChannelId;
}

/** What an operator orders for a program that skep does not run. Members that are absent leave all that the agent may. */
export interface CredentialOrder {
  /** Name or pubkey of an agent of this broker. */
  readonly agent: string;
  readonly actions?: readonly string[];
  readonly channels?: readonly string[];
  /** Absent: until it is revoked. */
  readonly lifetimeMs?: number;
  /** For people. */
  readonly label?: string;
}

/** `token` exists nowhere else. */
export interface IssuedCredential {
  readonly id: string;
  readonly token: string;
  readonly agent: string;
  readonly endpoint: string;
  /** False where the endpoint has another port after the next start. */
  readonly lasting: boolean;
  readonly expiresAtMs?: number;
}

/** A session as a list shows it: nothing of a token. Times are Unix milliseconds. */
export interface SessionEntry {
  readonly id: string;
  /** `process`: of an agent process that skep runs; it ends with it. */
  readonly sort: 'issued' | 'process';
  /** `unusable`: its agent is not configured any more, or has another owner or relay. */
  readonly state: 'live' | 'expired' | 'revoked' | 'unusable';
  /** Its name, or its pubkey where no such agent is here. */
  readonly agent: string;
  readonly pubkey: Pubkey;
  readonly label?: string;
  readonly actions?: readonly string[];
  readonly channels?: readonly ChannelId[];
  readonly createdAtMs: number;
  readonly expiresAtMs?: number;
  readonly revokedAtMs?: number;
  /** To the minute. */
  readonly usedAtMs?: number;
  readonly turn?: TurnBinding;
}

/** Where an operator gets and ends credentials. Every call may reject with the store's `Failure`. */
export interface CredentialDesk {
  issue(order: CredentialOrder): Promise<{ readonly ok: true; readonly issued: IssuedCredential } | Refusal>;
  /** Another token for the same credential; the old one ends at once. */
  rotate(id: string): Promise<{ readonly ok: true; readonly issued: IssuedCredential } | Refusal>;
  /** Effective on the next byte, also for requests under way and stored results. Twice is once. */
  revoke(id: string): Promise<{ readonly ok: true } | Refusal>;
  list(): readonly SessionEntry[];
}
