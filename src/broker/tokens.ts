/**
 * Bearer tokens (NIP-BA "Session and transport"): 32 random bytes, of which only the SHA-256 is kept. Whoever is found
 * by a token is found in time that does not depend on the token's bytes.
 */
import { hash } from 'node:crypto';
import type { Random } from '../model/index.ts';

const TOKEN_BYTES = 32;
/** 32 bytes as base64url without padding. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/;
const ID_BYTES = 8;

export interface TokenTable<T> {
  add(digest: string, bearer: T): void;
  remove(digest: string): void;
  find(token: string): T | undefined;
}

export function newToken(random: Random): { readonly token: string; readonly digest: string } {
  const token = Buffer.from(random.bytes(TOKEN_BYTES)).toString('base64url');
  return { token, digest: digestOf(token) };
}

/** Names a session in logs and lists; no secret, and never used again. */
export function newSessionId(random: Random): string {
  return Buffer.from(random.bytes(ID_BYTES)).toString('hex');
}

export function openTokenTable<T>(): TokenTable<T> {
  const bearers = new Map<string, T>();
  return {
    add(digest, bearer) {
      bearers.set(digest, bearer);
    },
    remove(digest) {
      bearers.delete(digest);
    },
    find(token) {
      // The look-up is by digest: what its time tells is about SHA-256 of the token, which leads nobody to the token.
      return TOKEN.test(token) ? bearers.get(digestOf(token)) : undefined;
    },
  };
}

function digestOf(token: string): string {
  return hash('sha256', token, 'hex');
}
