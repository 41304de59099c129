/** Instructions versions: the envelope, the four checks in their order, the sizes at their bounds. NIP-AP "Content". */
import * as fc from 'fast-check';
import * as oracle from 'nostr-tools/nip44';
import { describe, expect, it } from 'vitest';
import { eventId, seconds } from '../../src/model/index.ts';
import type { UnverifiedEvent } from '../../src/nostr/index.ts';
import {
  asTeamId, newTeamId, readVersion, subjectFilter, textFault, VERSION_MAX_CONTENT_BYTES, VERSION_MAX_TEXT_BYTES, versionDeletion, versionPlaintext,
  versionTemplate,
} from '../../src/persona/index.ts';
import type { Subject } from '../../src/persona/index.ts';
import { agent, keyOf, owner } from './people.ts';
import { ownerKey, seal, signed } from './world.ts';

const AGENT: Subject = { type: 'agent', agent };
const team = asTeamId('builtin-team:welcome') ?? expect.fail('no team id');

function event(content: string, tags: UnverifiedEvent['tags'] = [['p', agent]]): UnverifiedEvent {
  return { id: eventId('0'.repeat(64)), pubkey: owner, created_at: seconds(1), kind: 44_300, tags, content, sig: '0'.repeat(128) };
}

/** `valid <text>` or the check that failed. */
async function read(one: UnverifiedEvent, key = ownerKey()): Promise<string> {
  const reading = await readVersion(one, key);
  if (!reading.ok) return reading.code;
  return reading.version.reading.status === 'valid' ? `valid ${reading.version.reading.text}` : reading.version.reading.fault;
}

describe('team ids', () => {
  it.each([
    ['550e8400-e29b-41d4-a716-446655440000', true], ['builtin-team:welcome', true], ['A', true], ['é', true], ['e\u0301', true], ['😀'.repeat(64), true],
    ['x'.repeat(64), true], ['\ufeff', true], ['', false], ['x'.repeat(65), false], ['😀'.repeat(65), false], ['a b', false], ['a\t', false], ['\u0085', false],
    ['a\u00a0', false], ['\u3000', false], ['a\u2028', false], ['\u0000', false], ['\u007f', false], ['\ud800', false], ['a\n', false],
  ])('%j: %s', (id, expected) => {
    expect(asTeamId(id) === id).toBe(expected);
  });

  it('two spellings are two teams', () => {
    expect(asTeamId('é')).not.toBe(asTeamId('e\u0301'));
  });

  it('a new one is a UUID of chance', () => {
    let byte = 0;
    const random = { bytes: (count: number) => Uint8Array.from({ length: count }, () => (byte += 37) & 0xff), fraction: () => 0 };
    const ids = [newTeamId(random), newTeamId(random)];
    for (const id of ids) {
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(asTeamId(id)).toBe(id);
    }
    expect(ids[0]).not.toBe(ids[1]);
  });
});

describe('a version', () => {
  it('names its subject in one tag', () => {
    expect(versionTemplate(AGENT, 'x', seconds(5))).toEqual({ kind: 44_300, created_at: 5, tags: [['p', agent]], content: 'x' });
    expect(versionTemplate({ type: 'team', team }, 'x', seconds(5)).tags).toEqual([['t', 'builtin-team:welcome']]);
    expect(subjectFilter(owner, { type: 'team', team })).toEqual({ kinds: [44_300], authors: [owner], tags: new Map([['t', [team]]]) });
    expect(versionDeletion(eventId('a'.repeat(64)), seconds(9))).toEqual({ kind: 5, created_at: 9, tags: [['e', 'a'.repeat(64)], ['k', '44300']], content: '' });
  });

  it.each<[string, UnverifiedEvent['tags'], string]>([
    ['an agent', [['p', agent]], 'valid x'], ['a team', [['t', 'Case:Kept']], 'valid x'], ['an alt beside it', [['alt', 'a'], ['p', agent]], 'valid x'],
    ['no subject', [], 'envelope'], ['an agent and a team', [['p', agent], ['t', 'a']], 'envelope'], ['two agents', [['p', agent], ['p', agent]], 'envelope'],
    ['two teams', [['t', 'a'], ['t', 'b']], 'envelope'], ['a bare p', [['p']], 'envelope'], ['a bare t beside one', [['t'], ['t', 'a']], 'envelope'],
    ['a third element', [['p', agent, 'wss://x']], 'envelope'], ['capitals', [['p', agent.toUpperCase()]], 'envelope'], ['a short key', [['p', agent.slice(1)]], 'envelope'],
    ['no team id', [['t', 'a b']], 'envelope'], ['an empty team id', [['t', '']], 'envelope'], ['65 scalars', [['t', 'x'.repeat(65)]], 'envelope'],
    ['a channel', [['p', agent], ['h', 'x']], 'envelope'], ['a bare h', [['p', agent], ['h']], 'envelope'],
  ])('with %s: %3$s', async (_, tags, expected) => {
    expect(await read(event(seal('v1:x'), tags))).toBe(expected);
  });

  it.each([
    ['no base64', '!', 'sealed'], ['nothing', '', 'sealed'], ['a newer version of NIP-44', '#x', 'sealed'], ['no prefix', seal('x'), 'prefix'],
    ['another prefix', seal('v2:x'), 'prefix'], ['a byte order mark before it', seal('\ufeffv1:x'), 'prefix'], ['half a prefix', seal('v1'), 'prefix'],
    ['U+0000', seal('v1:a\0b'), 'text'], ['an empty text', seal('v1:'), 'valid '], ['a byte order mark in it', seal('v1:\ufeffx'), 'valid \ufeffx'],
    ['CRLF and white space', seal('v1: a\r\n '), 'valid  a\r\n '], ['another prefix and U+0000', seal('v2:\0'), 'prefix'],
  ])('that holds %s: %3$s', async (_, content, expected) => {
    expect(await read(event(content))).toBe(expected);
  });

  it('is not opened where its envelope or its size is wrong', async () => {
    let opened = 0;
    const key = { openFromSelf: () => { opened += 1; throw new Error('opened'); } };
    expect(await readVersion(event('x'.repeat(VERSION_MAX_CONTENT_BYTES + 1)), key)).toMatchObject({ ok: true, version: { reading: { fault: 'size' } } });
    expect(await readVersion(event(seal('v1:x'), []), key)).toMatchObject({ ok: true, version: { reading: { fault: 'envelope' } } });
    expect(opened).toBe(0);
  });

  it('is no invalid one where nobody could open it', async () => {
    expect(await read(event(seal('v1:x')), ownerKey(() => 'unavailable'))).toBe('unavailable');
  });

  it('tells nothing of its text where it is invalid', async () => {
    const reading = await readVersion(event(seal('hunter2')), ownerKey());
    expect(JSON.stringify(reading)).not.toContain('hunter2');
    expect(textFault('hunter2\0')).not.toContain('hunter2');
  });
});

describe('at the bounds', () => {
  const self = oracle.getConversationKey(keyOf(1), owner);

  it.each([
    [131_071, 218_548, 'valid'], [131_072, 218_548, 'valid'], [131_073, 218_548, 'text'],
  ])('a text of %d bytes is %d bytes of content, and %s', async (size, contentBytes, expected) => {
    const text = `${'é'.repeat(Math.floor(size / 2))}${'x'.repeat(size % 2)}`;
    expect(textFault(text) === undefined).toBe(expected === 'valid');
    const content = oracle.encrypt(versionPlaintext(text), self, keyOf(7));
    expect(content).toHaveLength(contentBytes);
    const found = await read(event(content));
    expect(found === (expected === 'valid' ? `valid ${text}` : expected)).toBe(true);
    expect(oracle.decrypt(seal(versionPlaintext(text)), self) === versionPlaintext(text)).toBe(true);
  });

  it.each([[VERSION_MAX_CONTENT_BYTES, 'sealed'], [VERSION_MAX_CONTENT_BYTES + 1, 'size']])('a content of %d bytes is looked at as %s', async (bytes, expected) => {
    expect(await read(event('A'.repeat(bytes)))).toBe(expected);
    expect(await read(event(`é${'A'.repeat(bytes - 2)}`))).toBe(expected);
  });

  it.each([65_532, 65_533, 65_534])('a text of %d bytes comes back across the longer length prefix', async (size) => {
    const text = 'x'.repeat(size);
    expect(await read(event(seal(versionPlaintext(text)))) === `valid ${text}`).toBe(true);
  });

  it.each([
    ['a lone surrogate', 'a\ud800', false], ['U+0000', '\0', false], ['nothing', '', true], ['the longest', 'x'.repeat(VERSION_MAX_TEXT_BYTES), true],
    ['the longest of emoji', '😀'.repeat(VERSION_MAX_TEXT_BYTES / 4), true], ['one emoji more', '😀'.repeat(VERSION_MAX_TEXT_BYTES / 4 + 1), false],
  ])('%s: %3$s', (_, text, fits) => {
    expect(textFault(text) === undefined).toBe(fits);
  });

  it('any text comes back', async () => {
    const text = fc.string({ unit: 'binary', maxLength: 2_000 }).filter((one) => textFault(one) === undefined);
    await fc.assert(fc.asyncProperty(text, async (one) => {
      expect(await read(signed(versionTemplate(AGENT, seal(versionPlaintext(one)), seconds(1))))).toBe(`valid ${one}`);
    }), { numRuns: 50 });
  });
});
