/**
 * NIP-98: does this event say that its author sends this very request? With NIP-OA in `x-auth-tag` it also tells whose
 * agent the author is, as an AUTH event would. Pure; that an event is used once is `callers.ts`'s business.
 */
import { hash } from 'node:crypto';
import { refuse } from '../model/index.ts';
import type { EventId, Seconds } from '../model/index.ts';
import { attestationIn, firstValue, parseEvent, verifyEvent } from '../nostr/index.ts';
import type { UnverifiedEvent } from '../nostr/index.ts';
import type { RelayRefusal } from './answers.ts';
import { sameRelay } from './auth.ts';
import type { Identity } from './auth.ts';

export interface SignedRequest {
  /** The `Authorization` headers: exactly one is expected. */
  readonly authorization: readonly string[];
  /** The `x-auth-tag` header: one NIP-OA tag as JSON. */
  readonly attestation: string | undefined;
  readonly path: string;
  readonly body: Uint8Array;
}

export interface Expected {
  /** The WebSocket URLs we go by; over HTTP we are known by the same names. */
  readonly urls: readonly string[];
  readonly nowSec: Seconds;
  readonly windowSec: number;
}

export interface Caller {
  readonly identity: Identity;
  readonly eventId: EventId;
  readonly createdAtSec: Seconds;
}

const KIND_HTTP_AUTH = 27_235;
/** Base64 of an event with a handful of tags. */
const MAX_AUTHORIZATION_LENGTH = 8_192;

export function checkHttpAuth(
  request: SignedRequest, { urls, nowSec, windowSec }: Expected,
): { readonly ok: true; readonly caller: Caller } | RelayRefusal {
  const [header, ...more] = request.authorization;
  if (header === undefined || more.length > 0) return no('Authorization: expected one, of the scheme Nostr');
  const event = eventIn(header);
  if (event === undefined) return no('Authorization: expected "Nostr" and an event in base64');
  if (event.kind !== KIND_HTTP_AUTH) return no(`kind: expected ${KIND_HTTP_AUTH}`);
  if (Math.abs(event.created_at - nowSec) > windowSec) return no(`created_at: expected within ${windowSec} s of the relay's clock`);
  const named = (firstValue(event.tags, 'u') ?? '').replace(/^http/i, 'ws');
  if (!urls.some((url) => sameRelay(named, `${url.replace(/\/+$/, '')}${request.path}`))) return no('u: expected the URL of this request');
  if (firstValue(event.tags, 'method') !== 'POST') return no('method: expected POST');
  // NIP-98 has it optional; without it, whoever reads the header could send another body with it.
  if (firstValue(event.tags, 'payload') !== hash('sha256', request.body)) return no('payload: expected the SHA-256 of the body');
  const verified = verifyEvent(event);
  if (!verified.ok) return no(verified.detail);
  const owner = ownerIn(request.attestation, event);
  return { ok: true, caller: { identity: { pubkey: event.pubkey, owner }, eventId: event.id, createdAtSec: event.created_at } };
}

function eventIn(header: string): UnverifiedEvent | undefined {
  const encoded = header.length > MAX_AUTHORIZATION_LENGTH ? undefined : /^Nostr +([\w+/-]+=*) *$/i.exec(header)?.[1];
  const parsed = encoded === undefined ? undefined : parseEvent(parseJson(Buffer.from(encoded, 'base64').toString('utf8')));
  return parsed?.ok === true ? parsed.event : undefined;
}

/** A broken attestation proves nobody, and costs nothing else: as on a connection. */
function ownerIn(header: string | undefined, event: UnverifiedEvent): Identity['owner'] {
  const tag = header === undefined ? undefined : parseJson(header);
  if (!Array.isArray(tag) || !tag.every((element) => typeof element === 'string')) return undefined;
  const attested = attestationIn([tag], event.pubkey, event);
  return attested.ok ? attested.attestation.owner : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function no(detail: string): RelayRefusal {
  return refuse('auth-required', detail);
}
