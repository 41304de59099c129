/** NIP-42: is this event a valid answer to our challenge? Says nothing about what it permits. Pure. */
import { refuse } from '../model/index.ts';
import type { Pubkey, Seconds } from '../model/index.ts';
import { attestationIn, firstValue, verifyEvent } from '../nostr/index.ts';
import type { UnverifiedEvent } from '../nostr/index.ts';
import type { RelayRefusal } from './answers.ts';
import { KIND } from './kinds.ts';

/** Who a connection is: the proven pubkey, and its owner where a valid NIP-OA attestation came with the proof. */
export interface Identity {
  readonly pubkey: Pubkey;
  readonly owner: Pubkey | undefined;
}

export interface Challenge {
  readonly challenge: string;
  /** The URLs we go by, the one to be told first. */
  readonly urls: readonly [string, ...string[]];
  readonly nowSec: Seconds;
  readonly windowSec: number;
}

export function checkAuth(
  event: UnverifiedEvent, expected: Challenge,
): { readonly ok: true; readonly identity: Identity } | RelayRefusal {
  if (event.kind !== KIND.auth) return refuse('invalid', `kind: expected ${KIND.auth}, found ${event.kind}`);
  if (Math.abs(event.created_at - expected.nowSec) > expected.windowSec) {
    return refuse('invalid', `created_at: expected within ${expected.windowSec} s of the relay's clock`);
  }
  if (firstValue(event.tags, 'challenge') !== expected.challenge) {
    return refuse('invalid', 'challenge: expected the one this connection was sent');
  }
  const named = firstValue(event.tags, 'relay') ?? '';
  if (!expected.urls.some((url) => sameRelay(named, url))) {
    return refuse('invalid', `relay: expected ${expected.urls[0]}`);
  }
  const verified = verifyEvent(event);
  if (!verified.ok) return refuse('invalid', verified.detail);
  // Two attestations are none, and a broken one proves nobody: the connection is then simply without an owner.
  const attested = attestationIn(event.tags, event.pubkey, event);
  return { ok: true, identity: { pubkey: event.pubkey, owner: attested.ok ? attested.attestation.owner : undefined } };
}

/** True when both URLs name one relay: case, default port and last slash aside, all names of this machine alike. */
export function sameRelay(a: string, b: string): boolean {
  const left = normaliseRelayUrl(a);
  return left !== undefined && left === normaliseRelayUrl(b);
}

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

function normaliseRelayUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.protocol !== 'ws:' && url.protocol !== 'wss:') return undefined;
  const host = LOOPBACK.has(url.hostname) ? 'localhost' : url.hostname;
  return `${url.protocol}//${host}:${url.port}${url.pathname.replace(/\/+$/, '')}${url.search}`;
}
