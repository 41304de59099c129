import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { pubkey } from '../../src/model/index.ts';
import { attest, attestationIn, checkAttestation, parseEvent, verifyEvent } from '../../src/nostr/index.ts';
import { attestationDigest } from '../../src/nostr/attestation.ts';

interface Vectors {
  readonly owner_secret: string;
  readonly owner_pubkey: string;
  readonly agent_pubkey: string;
  readonly conditions: string;
  readonly preimage_sha256: string;
  readonly sig: string;
  readonly event: unknown;
}
const vectors = JSON.parse(readFileSync(new URL('./vectors/attestation.json', import.meta.url), 'utf8')) as Vectors;
const agent = pubkey(vectors.agent_pubkey);
const owner = pubkey(vectors.owner_pubkey);
const tag = ['auth', owner, vectors.conditions, vectors.sig];
const within = { kind: 1, created_at: 1_713_956_400 };
const ownerKey = Buffer.from(vectors.owner_secret, 'hex');
const made = (conditions: string) => attest(agent, conditions, ownerKey, new Uint8Array(32));

describe('the reference vector', () => {
  it('has the digest, the signature and the event', () => {
    expect(attestationDigest(agent, vectors.conditions).toString('hex')).toBe(vectors.preimage_sha256);
    expect(checkAttestation(tag, agent)).toMatchObject({ ok: true, attestation: { owner } });
    const parsed = parseEvent(vectors.event);
    if (!parsed.ok) throw new Error(parsed.detail);
    expect(verifyEvent(parsed.event).ok).toBe(true);
    expect(attestationIn(parsed.event.tags, agent, parsed.event)).toMatchObject({ ok: true });
  });
});

describe('attestationIn', () => {
  it('needs exactly one tag', () => {
    expect(attestationIn([], agent, within).ok).toBe(false);
    expect(attestationIn([tag], agent, within).ok).toBe(true);
    expect(attestationIn([tag, tag], agent, within).ok).toBe(false);
  });

  it('holds only where every clause holds', () => {
    expect(attestationIn([tag], agent, { ...within, kind: 2 }).ok).toBe(false);
    expect(attestationIn([tag], agent, { ...within, created_at: 1_713_957_000 }).ok).toBe(false);
    expect(attestationIn([made('created_at>5&kind=9')], agent, { kind: 9, created_at: 6 }).ok).toBe(true);
    expect(attestationIn([made('created_at>5&kind=9')], agent, { kind: 9, created_at: 5 }).ok).toBe(false);
    expect(attestationIn([made('')], agent, { kind: 22_242, created_at: 0 }).ok).toBe(true);
  });
});

describe('checkAttestation', () => {
  it.each([
    ['three elements', tag.slice(0, 3)],
    ['five elements', [...tag, '']],
    ['a trailing &', made('kind=1&')],
    ['a leading zero', made('kind=01')],
    ['white space', made('kind=1 &kind=2')],
    ['another clause', made('kinds=1')],
    ['a kind out of range', made('kind=65536')],
    ['a time out of range', made('created_at<4294967296')],
    ['an upper-case owner', ['auth', owner.toUpperCase(), '', vectors.sig]],
    ['another signature', ['auth', owner, 'kind=2', vectors.sig]],
  ])('refuses %s', (_, bad) => {
    expect(checkAttestation(bad, agent).ok).toBe(false);
  });

  it('refuses an agent that attests itself', () => {
    expect(checkAttestation(attest(owner, '', ownerKey, new Uint8Array(32)), owner).ok).toBe(false);
  });

  it('is bound to its agent', () => {
    expect(checkAttestation(made(''), pubkey('c3'.repeat(32))).ok).toBe(false);
  });
});
