/**
 * The relay's messages (NIP-01, NIP-42) as values, and ours as text. Reading is forgiving in one way only: what is not
 * one of the known arrays is no message. Nothing here trusts an event: it stays `unknown` until it is checked.
 */
import type { EventId, Milliseconds } from '../../model/index.ts';
import { asEventId, later } from '../../model/index.ts';
import { filterToWire } from '../../nostr/index.ts';
import type { PagedFilter, VerifiedEvent } from '../../nostr/index.ts';
import { MAX_CHALLENGE_CHARACTERS, MAX_RATE_LIMITED_MS, MAX_REASON_CHARACTERS, RATE_LIMITED_MS } from './limits.ts';

/** What a relay says about a connection, a request or a publication. */
export type Control =
  | { readonly type: 'auth'; readonly challenge: string }
  | { readonly type: 'ok'; readonly eventId: EventId; readonly accepted: boolean; readonly reason: string }
  | { readonly type: 'closed'; readonly id: string; readonly reason: string }
  | { readonly type: 'eose'; readonly id: string }
  | { readonly type: 'notice'; readonly text: string };

export type RelayMessage = Control | { readonly type: 'event'; readonly id: string; readonly event: unknown };

/** `text` as a message we act on; undefined for everything else (COUNT answers, noise, unknown words). */
export function parseRelayMessage(text: string): RelayMessage | undefined {
  const message = parseJson(text);
  if (!Array.isArray(message)) return undefined;
  const [word, first, second, third] = message as readonly unknown[];
  if (typeof first !== 'string') return undefined;
  switch (word) {
    case 'EVENT':
      return { type: 'event', id: first, event: second };
    case 'EOSE':
      return { type: 'eose', id: first };
    case 'CLOSED':
      return { type: 'closed', id: first, reason: reasonOf(second) };
    case 'NOTICE':
      return { type: 'notice', text: reasonOf(first) };
    case 'AUTH':
      return first.length > MAX_CHALLENGE_CHARACTERS ? undefined : { type: 'auth', challenge: first };
    case 'OK': {
      const eventId = asEventId(first);
      if (eventId === undefined || typeof second !== 'boolean') return undefined;
      return { type: 'ok', eventId, accepted: second, reason: reasonOf(third) };
    }
    default:
      return undefined;
  }
}

/** The machine-readable prefix of a reason (NIP-01), as far as we act on it. */
export type ReasonWord = 'duplicate' | 'auth-required' | 'rate-limited' | 'other';

export function reasonWord(reason: string): ReasonWord {
  const word = reason.slice(0, reason.indexOf(':'));
  return word === 'duplicate' || word === 'auth-required' || word === 'rate-limited' ? word : 'other';
}

/** When to try again after a `rate-limited:` reason. Buzz says `retry in Ns` in the text and nowhere else. */
export function retryAt(reason: string, now: Milliseconds): Milliseconds {
  const found = /retry in (\d{1,9}(?:\.\d{1,3})?) ?s/i.exec(reason)?.[1];
  const askedMs = found === undefined ? RATE_LIMITED_MS : Math.ceil(Number(found) * 1000);
  return later(now, Math.min(Math.max(askedMs, 1), MAX_RATE_LIMITED_MS));
}

export function requestText(id: string, filters: readonly PagedFilter[]): string {
  return JSON.stringify(['REQ', id, ...filters.map(filterToWire)]);
}

export function closeText(id: string): string {
  return JSON.stringify(['CLOSE', id]);
}

export function eventText(event: VerifiedEvent): string {
  return JSON.stringify(['EVENT', event]);
}

export function authText(event: VerifiedEvent): string {
  return JSON.stringify(['AUTH', event]);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function reasonOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, MAX_REASON_CHARACTERS) : '';
}
