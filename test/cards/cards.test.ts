import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildCard, CARD_LIMITS, cardTags, editTags, parseCard, pendingContent, resolvedContent } from '../../src/cards/index.ts';
import type { CardFacts, CardRequest, CardResolution } from '../../src/cards/index.ts';
import { channelId, eventId, pubkey, seconds } from '../../src/model/index.ts';

const channel = channelId('00000000-0000-4000-8000-000000000001');
const owner = pubkey('b'.repeat(64));
const trigger = eventId('d'.repeat(64));
const cardId = eventId('e'.repeat(64));

const REQUEST: CardRequest = {
  requestNonce: '6f1d1f54-2f5d-4b59-8f5c-0a4e1a3a7c11', sessionId: 'session-1', turnId: 'turn-1', expiresAt: seconds(1_700_000_300),
  allow: { optionId: 'yes', name: 'Allow once' }, reject: { optionId: 'no', name: 'Deny' }, params: { title: 'Run ls' },
};

function built(more: Partial<CardRequest> = {}): CardFacts {
  const result = buildCard({ ...REQUEST, ...more });
  if (!result.ok) throw new Error(result.detail);
  return result.card;
}

const bytesOf = (text: string) => Buffer.byteLength(text, 'utf8');

describe('what a card says', () => {
  it('is, pending, to the byte', () => {
    expect(pendingContent(built())).toBe(
      '{"description":"Run ls","expiresAt":1700000300,"labels":{"no":"Deny","yes":"Allow once"},"optionIds":["yes","no"],'
      + '"requestNonce":"6f1d1f54-2f5d-4b59-8f5c-0a4e1a3a7c11","sessionId":"session-1","state":"pending","turnId":"turn-1","v":1}',
    );
  });

  it('is, resolved, to the byte', () => {
    expect(resolvedContent(built({ params: {} }), cardId, { outcome: 'applied', chosenOptionId: 'no' })).toBe(
      '{"chosenOptionId":"no","description":null,"expiresAt":1700000300,"labels":{"no":"Deny","yes":"Allow once"},"optionIds":["yes","no"],'
      + `"originalEventId":"${'e'.repeat(64)}","outcome":"applied","requestNonce":"6f1d1f54-2f5d-4b59-8f5c-0a4e1a3a7c11",`
      + '"sessionId":"session-1","state":"resolved","turnId":"turn-1","v":1}',
    );
    expect(resolvedContent(built(), cardId, { outcome: 'timed_out', chosenOptionId: null })).toContain('"chosenOptionId":null');
  });

  it('has its members in alphabetical order, labels too, whatever the ids look like', () => {
    const pairs = [['10', '9'], ['9', '10'], ['__proto__', 'a'], ['é', 'z'], ['😀', '\uE000'], ['a', 'a\u0000']] as const;
    for (const [allow, reject] of pairs) {
      const content = pendingContent(built({ allow: { optionId: allow, name: 'A' }, reject: { optionId: reject, name: 'R' } }));
      const labels = /"labels":\{(.*?)\},/.exec(content)?.[1] ?? '';
      const sorted = [allow, reject].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      expect(labels).toBe(sorted.map((id) => `${JSON.stringify(id)}:"${id === allow ? 'A' : 'R'}"`).join(','));
    }
  });

  it('is tagged h, p, e, and its edit h, e', () => {
    expect(cardTags({ channelId: channel, owner, trigger })).toEqual([['h', channel], ['p', owner], ['e', trigger, '', 'reply']]);
    expect(cardTags({ channelId: channel, owner })).toEqual([['h', channel], ['p', owner]]);
    expect(editTags(channel, cardId)).toEqual([['h', channel], ['e', cardId]]);
  });
});

describe('the bounds of the producer', () => {
  const withId = (optionId: string) => buildCard({ ...REQUEST, allow: { optionId, name: 'A' } });
  // One scalar of each width, so that neither UTF-16 units nor scalars pass for bytes.
  const widths = [['a', 1], ['é', 2], ['€', 3], ['😀', 4]] as const;

  it.each(widths)('200 bytes of %s are taken and one more is refused, in every string', (scalar, width) => {
    const most = `${'x'.repeat(CARD_LIMITS.stringBytes % width)}${scalar.repeat(Math.floor(CARD_LIMITS.stringBytes / width))}`;
    expect(bytesOf(most)).toBe(CARD_LIMITS.stringBytes);
    const make = (text: string) => [
      buildCard({ ...REQUEST, requestNonce: text }), buildCard({ ...REQUEST, sessionId: text }), buildCard({ ...REQUEST, turnId: text }), withId(text),
      buildCard({ ...REQUEST, reject: { optionId: text, name: 'R' } }),
    ];
    expect(make(most).map((result) => result.ok)).toEqual([true, true, true, true, true]);
    expect(make(`${most}y`).map((result) => (result.ok ? 'built' : result.code))).toEqual(Array(5).fill('bad_string'));
  });

  it.each(widths)('a label of %s is cut between scalars', (scalar) => {
    const [allow] = built({ allow: { optionId: 'yes', name: `x${scalar.repeat(300)}` } }).options;
    expect(bytesOf(allow.label)).toBeLessThanOrEqual(200);
    expect(bytesOf(allow.label + scalar)).toBeGreaterThan(200);
    expect(allow.label.isWellFormed()).toBe(true);
    expect(`x${scalar.repeat(300)}`.startsWith(allow.label)).toBe(true);
  });

  it.each([
    ['no nonce', { requestNonce: '' }, 'bad_string'], ['half a character in an id', { allow: { optionId: 'a\ud83d', name: 'A' } }, 'bad_string'],
    ['half a character in the session', { sessionId: '\udc00' }, 'bad_string'], ['one id for both', { reject: { optionId: 'yes', name: 'R' } }, 'same_options'],
    ['a time before 1970', { expiresAt: -1 as never }, 'bad_time'], ['no time', { expiresAt: Number.NaN as never }, 'bad_time'],
  ] as const)('%s is refused', (_, more, code) => {
    expect(buildCard({ ...REQUEST, ...more })).toMatchObject({ ok: false, code });
  });

  it('what only its escapes make too long is refused, and so is a card whose edit would be', () => {
    const long = '\u0001'.repeat(200);
    expect(buildCard({ ...REQUEST, allow: { optionId: long, name: long }, reject: { optionId: `${long.slice(1)}x`, name: long } })).toMatchObject({ code: 'content_too_long' });
    // Each quote is two bytes more: at some number of them the edit is too long while the card alone is not.
    const name = '\u0001'.repeat(200);
    const sizes = Array.from({ length: 200 }, (_, quotes) => {
      const session = { sessionId: '\u0001'.repeat(190), turnId: '"'.repeat(quotes) };
      const result = buildCard({ ...REQUEST, ...session, allow: { optionId: 'yes', name }, reject: { optionId: 'no', name } });
      if (!result.ok) return undefined;
      return Math.max(bytesOf(pendingContent(result.card)), bytesOf(resolvedContent(result.card, cardId, { outcome: 'timed_out', chosenOptionId: null })));
    });
    expect(sizes.filter((size) => size !== undefined && size > CARD_LIMITS.contentBytes)).toEqual([]);
    expect(sizes).toContain(undefined);
    expect(sizes.some((size) => size !== undefined && size > CARD_LIMITS.contentBytes - 3)).toBe(true);
  });
});

const anyText = fc.oneof(fc.string({ unit: 'binary', maxLength: 90 }), fc.string({ unit: 'grapheme', maxLength: 260 }), fc.constantFrom('a'.repeat(200), '😀'.repeat(50)));
const anyRequest: fc.Arbitrary<CardRequest> = fc.record({
  requestNonce: anyText, sessionId: anyText, turnId: anyText, expiresAt: fc.nat().map(seconds),
  allow: fc.record({ optionId: anyText, name: anyText }), reject: fc.record({ optionId: anyText, name: anyText }),
  params: fc.record({ title: fc.option(anyText), toolCall: fc.option(fc.record({ title: anyText, rawInput: fc.object({ maxDepth: 1 }) })) }, { requiredKeys: [] }),
});

describe('producer and parser', () => {
  it('agree: everything that is built is read as what it was, pending and resolved', () => {
    let cards = 0;
    fc.assert(fc.property(anyRequest, (request) => {
      const result = buildCard(request);
      if (!result.ok) return;
      cards += 1;
      const { card } = result;
      expect(parseCard(pendingContent(card))).toEqual({ ok: true, card: { state: 'pending', ...card } });
      const ends: readonly CardResolution[] = [
        ...card.options.map(({ optionId }) => ({ outcome: 'applied', chosenOptionId: optionId }) as const),
        { outcome: 'timed_out', chosenOptionId: null }, { outcome: 'cancelled', chosenOptionId: null },
      ];
      for (const end of ends) {
        expect(parseCard(resolvedContent(card, cardId, end))).toEqual({ ok: true, card: { state: 'resolved', originalEventId: cardId, ...card, ...end } });
      }
    }), { numRuns: 500 });
    expect(cards).toBeGreaterThan(50);
  });

  const json = (more: Readonly<Record<string, unknown>> = {}, without: readonly string[] = []) => {
    const members = { ...(JSON.parse(pendingContent(built())) as Record<string, unknown>), ...more };
    return JSON.stringify(Object.fromEntries(Object.entries(members).filter(([name]) => !without.includes(name))));
  };
  const resolved = (more: Readonly<Record<string, unknown>> = {}, without: readonly string[] = []) =>
    json({ state: 'resolved', originalEventId: cardId, outcome: 'timed_out', chosenOptionId: null, ...more }, without);
  const verdict = (content: string) => {
    const parsed = parseCard(content);
    return parsed.ok ? 'card' : parsed.code;
  };
  const at200 = '€'.repeat(66) + 'ab';

  it.each([
    ['as built', json()], ['without a description', json({}, ['description'])], ['with another member', json({ more: 1 })],
    ['with null for session and turn', json({ sessionId: null, turnId: null })], ['with an empty label', json({ labels: { yes: '', no: '' } })],
    ['with spaces around', `  ${json()}\n`], ['at every bound', json({
      requestNonce: at200, sessionId: at200, turnId: at200, description: at200, optionIds: [at200, 'no'], labels: { [at200]: at200, no: at200 },
    })], ['at time zero', json({ expiresAt: 0 })],
    ['resolved', resolved()], ['rejected', resolved({ outcome: 'rejected' })], ['applied', resolved({ outcome: 'applied', chosenOptionId: 'yes' })],
    ['of 4,096 bytes', json().padEnd(4_096, ' ')],
  ])('read %s', (_, content) => {
    expect(verdict(content)).toBe('card');
  });

  it.each([
    ['of 4,097 bytes', json().padEnd(4_097, ' '), 'too_long'], ['of 4,097 bytes in fewer characters', json({ x: '€'.repeat(1_400) }), 'too_long'],
    ['text', 'hello', 'not_a_card'], ['a list', '[1]', 'not_a_card'], ['v "1"', json({ v: '1' }), 'not_a_card'], ['v 2', json({ v: 2 }), 'not_a_card'],
    ['no nonce', json({ requestNonce: '' }), 'malformed'], ['a nonce of 201 bytes', json({ requestNonce: `${at200}c` }), 'malformed'],
    ['a session of 201 bytes', json({ sessionId: `${at200}c` }), 'malformed'], ['a turn of 201 bytes', json({ turnId: `${at200}c` }), 'malformed'],
    ['a description of 201 bytes', json({ description: `${at200}c` }), 'malformed'], ['no session', json({}, ['sessionId']), 'malformed'],
    ['no turn', json({}, ['turnId']), 'malformed'], ['half a second', json({ expiresAt: 1.5 }), 'malformed'], ['a negative time', json({ expiresAt: -1 }), 'malformed'],
    ['three options', json({ optionIds: ['yes', 'no', 'x'] }), 'malformed'], ['one option twice', json({ optionIds: ['yes', 'yes'] }), 'malformed'],
    ['an option of 201 bytes', json({ optionIds: [`${at200}c`, 'no'], labels: { [`${at200}c`]: '', no: '' } }), 'malformed'],
    ['an empty option', json({ optionIds: ['', 'no'], labels: { '': '', no: '' } }), 'malformed'],
    ['a label of 201 bytes', json({ labels: { yes: `${at200}c`, no: '' } }), 'malformed'], ['a label too many', json({ labels: { yes: '', no: '', x: '' } }), 'malformed'],
    ['another label', json({ labels: { yes: '', x: '' } }), 'malformed'], ['a label by inheritance', json({ optionIds: ['toString', 'no'], labels: { x: '', no: '' } }), 'malformed'],
    ['another state', json({ state: 'open' }), 'malformed'], ['an original in capitals', resolved({ originalEventId: 'E'.repeat(64) }), 'malformed'],
    ['no original', resolved({}, ['originalEventId']), 'malformed'], ['an unknown outcome', resolved({ outcome: 'uncertain' }), 'malformed'],
    ['applied without a choice', resolved({ outcome: 'applied' }), 'malformed'], ['applied with another choice', resolved({ outcome: 'applied', chosenOptionId: 'x' }), 'malformed'],
    ['timed out with a choice', resolved({ chosenOptionId: 'no' }), 'malformed'], ['no choice at all', resolved({}, ['chosenOptionId']), 'malformed'],
  ])('do not read %s', (_, content, code) => {
    expect(verdict(content)).toBe(code);
  });
});
