import { schnorr } from '@noble/curves/secp256k1.js';
import fc from 'fast-check';
import { finalizeEvent, verifyEvent as verifyWithStranger } from 'nostr-tools/pure';
import { describe, expect, it } from 'vitest';
import { seconds } from '../../src/model/index.ts';
import { eventIdOf, parseEvent, signEvent, verifyEvent } from '../../src/nostr/index.ts';
import type { EventTemplate } from '../../src/nostr/index.ts';

const KEY = new Uint8Array(32).fill(7);
const AUX = new Uint8Array(32);
const template: EventTemplate = { created_at: seconds(1_700_000_000), kind: 9, tags: [['h', 'x'], ['p']], content: 'hé "\u2028" 🐝' };

describe('signEvent', () => {
  it('signs what another implementation verifies, and gives the bytes it would give', () => {
    const event = signEvent(template, KEY, AUX);
    expect(verifyWithStranger({ ...event, tags: event.tags.map((tag) => [...tag]) })).toBe(true);
    const signature = schnorr.sign(Buffer.from(event.id, 'hex'), KEY, AUX);
    expect(event.sig).toBe(Buffer.from(signature).toString('hex'));
  });
});

describe('verifyEvent', () => {
  it('agrees with another implementation on any event', () => {
    const texts = fc.string({ unit: 'binary' });
    fc.assert(fc.property(fc.array(fc.array(texts)), texts, fc.nat(65_535), (tags, content, kind) => {
      const theirs = finalizeEvent({ created_at: 1, kind, tags, content }, KEY);
      const parsed = parseEvent(JSON.parse(JSON.stringify(theirs)));
      expect(parsed.ok && verifyEvent(parsed.event).ok).toBe(true);
      expect(eventIdOf({ created_at: seconds(1), kind, tags, content }, theirs.pubkey)).toBe(theirs.id);
    }), { numRuns: 60 });
  });

  it.each(['id', 'pubkey', 'sig', 'content', 'created_at', 'kind'] as const)('notices another %s', (member) => {
    const event = signEvent(template, KEY, AUX);
    const other = signEvent({ ...template, content: 'other', created_at: seconds(5), kind: 1 }, new Uint8Array(32).fill(8), AUX);
    const parsed = parseEvent({ ...event, [member]: other[member] });
    expect(parsed.ok).toBe(true);
    expect(parsed.ok && verifyEvent(parsed.event).ok).toBe(false);
  });
});

describe('parseEvent', () => {
  const whole = { ...signEvent(template, KEY, AUX) };
  it.each([
    ['event', null], ['event', []], ['event', 'x'],
    ['id', { ...whole, id: whole.id.toUpperCase() }], ['pubkey', { ...whole, pubkey: whole.pubkey.slice(1) }],
    ['created_at', { ...whole, created_at: 1.5 }], ['created_at', { ...whole, created_at: -1 }], ['created_at', { ...whole, created_at: '1' }],
    ['kind', { ...whole, kind: 65_536 }], ['tags', { ...whole, tags: [['h', 1]] }], ['tags', { ...whole, tags: {} }],
    ['content', { ...whole, content: null }], ['sig', { ...whole, sig: 'ab' }], ['extra', { ...whole, extra: 1 }],
  ])('refuses a wrong %s and names it', (member, value) => {
    expect(parseEvent(value)).toMatchObject({ ok: false, code: 'invalid', detail: expect.stringMatching(new RegExp(`^${member}: `)) });
  });

  it('shares nothing with what it was given', () => {
    const tags = [['h', 'x']];
    const parsed = parseEvent({ ...whole, tags });
    tags[0]?.push('more');
    expect(parsed.ok && parsed.event.tags).toEqual([['h', 'x']]);
  });
});
