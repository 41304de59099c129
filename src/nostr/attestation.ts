/**
 * NIP-OA owner attestation: an owner's signature that an agent key is theirs, carried as one `auth` tag. Used to find
 * the owner of an agent, to prove same-owner siblings, and on the AUTH event of a relay connection.
 */
import { hash } from 'node:crypto';
import { asPubkey, refuse } from '../model/index.ts';
import type { Pubkey, Refusal } from '../model/index.ts';
import { signDigest, publicKeyOf, verifyDigest } from './curve.ts';
import type { Tag } from './event.ts';

/** `tag` is the four elements `auth`, owner, conditions, signature, used as they stand. */
export interface Attestation {
  readonly owner: Pubkey;
  readonly tag: Tag;
}

const SIGNATURE = /^[0-9a-f]{128}$/;
const CLAUSE = /^(?:kind=(0|[1-9]\d{0,4})|created_at([<>])(0|[1-9]\d{0,9}))$/;

type Facts = { readonly kind: number; readonly created_at: number };

/** The attestation in a set of tags, when there is exactly one `auth` tag and it holds for `agent` and the event. */
export function attestationIn(
  tags: readonly Tag[], agent: Pubkey, event: Facts,
): { readonly ok: true; readonly attestation: Attestation } | Refusal<'attestation'> {
  const found = tags.filter((tag) => tag[0] === 'auth');
  const [tag] = found;
  if (tag === undefined || found.length > 1) return no('expected exactly one auth tag');
  const checked = checkAttestation(tag, agent);
  if (!checked.ok) return checked;
  return holds(tag[2] ?? '', event) ? checked : no('a condition does not hold for this event');
}

/** Checks form and signature of one tag for `agent`; conditions are checked against an event by `attestationIn`. */
export function checkAttestation(
  tag: Tag, agent: Pubkey,
): { readonly ok: true; readonly attestation: Attestation } | Refusal<'attestation'> {
  const [name, ownerText, conditions, sig] = tag;
  if (name !== 'auth' || tag.length !== 4 || ownerText === undefined || conditions === undefined || sig === undefined) {
    return no('expected ["auth", owner, conditions, signature]');
  }
  const owner = asPubkey(ownerText);
  if (owner === undefined) return no('owner: expected 64 lowercase hex characters');
  if (owner === agent) return no('owner: an agent cannot attest itself');
  if (conditions !== '' && !conditions.split('&').every(isClause)) return no('conditions: expected canonical clauses');
  if (!SIGNATURE.test(sig)) return no('signature: expected 128 lowercase hex characters');
  const digest = attestationDigest(agent, conditions);
  if (!verifyDigest(digest, Buffer.from(owner, 'hex'), Buffer.from(sig, 'hex'))) return no('the signature does not verify');
  return { ok: true, attestation: { owner, tag } };
}

/** Signs an attestation for `agent` with the owner's secret key; `conditions` must be canonical. */
export function attest(agent: Pubkey, conditions: string, ownerKey: Uint8Array, aux: Uint8Array): Tag {
  const owner = publicKeyOf(ownerKey);
  if (owner === undefined) throw new TypeError('owner key: expected 32 bytes, 1..n-1');
  const sig = signDigest(attestationDigest(agent, conditions), ownerKey, aux);
  return ['auth', Buffer.from(owner).toString('hex'), conditions, Buffer.from(sig).toString('hex')];
}

/** SHA-256 of `nostr:agent-auth:<agent>:<conditions>`. */
export function attestationDigest(agent: Pubkey, conditions: string): Buffer {
  return hash('sha256', `nostr:agent-auth:${agent}:${conditions}`, 'buffer');
}

function isClause(text: string): boolean {
  const [, kind, , time] = CLAUSE.exec(text) ?? [];
  return (kind !== undefined && Number(kind) <= 65_535) || (time !== undefined && Number(time) <= 4_294_967_295);
}

function holds(conditions: string, event: Facts): boolean {
  if (conditions === '') return true;
  return conditions.split('&').every((clause) => {
    const [, kind, relation, time] = CLAUSE.exec(clause) ?? [];
    if (kind !== undefined) return event.kind === Number(kind);
    return relation === '<' ? event.created_at < Number(time) : event.created_at > Number(time);
  });
}

function no(detail: string): Refusal<'attestation'> {
  return refuse('attestation', detail);
}
