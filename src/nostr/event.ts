/**
 * NIP-01 events: the shape, the id, the signature. Verified and unverified events are two types; the only ways to a
 * `VerifiedEvent` are `verifyEvent` and signing, so nobody can trust one by forgetting to check.
 */
import { hash } from 'node:crypto';
import { asEventId, asPubkey, excerpt, pubkey, refuse, seconds } from '../model/index.ts';
import type { EventId, Pubkey, Refusal, Seconds } from '../model/index.ts';
import { publicKeyOf, signDigest, verifyDigest } from './curve.ts';

export type Tag = readonly string[];

/** The unsigned part. `created_at` in seconds, `kind` 0..65535. */
export interface EventTemplate {
  readonly created_at: Seconds;
  readonly kind: number;
  readonly tags: readonly Tag[];
  readonly content: string;
}

/** Exactly the seven members of NIP-01; the form is checked, the id and signature are not. */
export interface UnverifiedEvent extends EventTemplate {
  readonly id: EventId;
  readonly pubkey: Pubkey;
  readonly sig: string;
}

declare const verified: unique symbol;
/** An event whose id is its hash and whose signature is its author's. */
export type VerifiedEvent = UnverifiedEvent & { readonly [verified]: true };

const SIGNATURE = /^[0-9a-f]{128}$/;
const MEMBERS: ReadonlySet<string> = new Set(['id', 'pubkey', 'created_at', 'kind', 'tags', 'content', 'sig']);

/** Outside data as an event: seven members and no more, each of its form. The result shares nothing mutable. */
export function parseEvent(value: unknown): { readonly ok: true; readonly event: UnverifiedEvent } | Refusal<'invalid'> {
  if (!isRecord(value)) return bad('event', 'an object');
  const stranger = Object.keys(value).find((name) => !MEMBERS.has(name));
  if (stranger !== undefined) return bad(excerpt(stranger), 'only the seven members of NIP-01');
  const { id, pubkey, created_at: createdAt, kind, tags, content, sig } = value;
  const eventId = typeof id === 'string' ? asEventId(id) : undefined;
  if (eventId === undefined) return bad('id', '64 lowercase hex characters');
  const author = typeof pubkey === 'string' ? asPubkey(pubkey) : undefined;
  if (author === undefined) return bad('pubkey', '64 lowercase hex characters');
  if (!isWhole(createdAt, Number.MAX_SAFE_INTEGER)) return bad('created_at', 'whole seconds');
  if (!isWhole(kind, 65_535)) return bad('kind', 'an integer 0..65535');
  if (typeof content !== 'string') return bad('content', 'a string');
  if (typeof sig !== 'string' || !SIGNATURE.test(sig)) return bad('sig', '128 lowercase hex characters');
  const copied = copyTags(tags);
  if (copied === undefined) return bad('tags', 'an array of arrays of strings');
  return {
    ok: true,
    event: { id: eventId, pubkey: author, created_at: seconds(createdAt), kind, tags: copied, content, sig },
  };
}

/** The id of an event: SHA-256 over the canonical array (NIP-01), as lowercase hex. */
export function eventIdOf(template: EventTemplate, author: string): string {
  const { created_at: createdAt, kind, tags, content } = template;
  return hash('sha256', JSON.stringify([0, author, createdAt, kind, tags, content]), 'hex');
}

/** Checks id and signature. Costs one hash and one curve operation; call it once for each event that comes in. */
export function verifyEvent(
  event: UnverifiedEvent,
): { readonly ok: true; readonly event: VerifiedEvent } | Refusal<'bad_id' | 'bad_signature'> {
  if (eventIdOf(event, event.pubkey) !== event.id) return refuse('bad_id', 'the id is not the hash of the event');
  const valid = verifyDigest(Buffer.from(event.id, 'hex'), Buffer.from(event.pubkey, 'hex'), Buffer.from(event.sig, 'hex'));
  return valid ? { ok: true, event: event as VerifiedEvent } : refuse('bad_signature', 'the signature does not verify');
}

/** Signs `template` with `secretKey` (32 bytes); `aux` is 32 bytes of randomness. Throws (a bug) for a bad key. */
export function signEvent(template: EventTemplate, secretKey: Uint8Array, aux: Uint8Array): VerifiedEvent {
  const author = publicKeyOf(secretKey);
  if (author === undefined) throw new TypeError('secret key: expected 32 bytes, 1..n-1');
  return signEventAs({ pubkey: pubkey(Buffer.from(author).toString('hex')), secretKey }, template, aux);
}

export interface KeyPair {
  readonly pubkey: Pubkey;
  readonly secretKey: Uint8Array;
}

/** The same for a key whose pubkey is known to be its own: deriving it costs half as much as the signature. */
export function signEventAs({ pubkey: author, secretKey }: KeyPair, template: EventTemplate, aux: Uint8Array): VerifiedEvent {
  const id = eventIdOf(template, author);
  const sig = Buffer.from(signDigest(Buffer.from(id, 'hex'), secretKey, aux)).toString('hex');
  const { created_at: createdAt, kind, tags, content } = template;
  return { id, pubkey: author, created_at: createdAt, kind, tags, content, sig } as VerifiedEvent;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isWhole(value: unknown, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max;
}

function copyTags(value: unknown): readonly Tag[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const tags: Tag[] = [];
  for (const tag of value as readonly unknown[]) {
    if (!Array.isArray(tag) || !tag.every((element) => typeof element === 'string')) return undefined;
    tags.push([...(tag)]);
  }
  return tags;
}

function bad(field: string, expected: string): Refusal<'invalid'> {
  return refuse('invalid', `${field}: expected ${expected}`);
}
