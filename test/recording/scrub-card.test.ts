import { describe, expect, it } from 'vitest';
import { parseCard, pendingContent, resolvedContent } from '../../src/cards/index.ts';
import type { CardFacts } from '../../src/cards/index.ts';
import { eventId, seconds } from '../../src/model/index.ts';
import { cardIn, scrubCard, textsOfCard } from '../../src/recording/scrub/card.ts';

const card: CardFacts = {
  requestNonce: 'nonce', sessionId: 'session', turnId: null, expiresAt: seconds(1_790_000_300), description: 'Sweep the path',
  options: [{ optionId: 'yes', label: 'Allow' }, { optionId: 'no', label: 'Deny' }],
};
const original = eventId('a'.repeat(64));
const another = eventId('b'.repeat(64));
const standIns = { text: (text: string) => 'x'.repeat(text.length), time: (atSec: number) => atSec - 1_000, eventId: () => another };

function scrubbed(content: string): unknown {
  const found = cardIn(content);
  const parsed = found && parseCard(scrubCard(found, standIns));
  return parsed?.ok === true ? parsed.card : expect.fail('no card');
}

describe('a card', () => {
  it.each(['', ' '])('that waits is one that waits, after %o', (before) => {
    expect(scrubbed(`${before}${pendingContent(card)}`)).toMatchObject({
      state: 'pending', requestNonce: 'xxxxx', sessionId: 'xxxxxxx', turnId: null, expiresAt: 1_789_999_300,
      options: [{ optionId: 'xxx', label: 'xxxxx' }, { optionId: 'xx', label: 'xxxx' }],
    });
  });

  it('that has ended ends the same way, at the option in the same place', () => {
    for (const [chosen, standIn] of [['yes', 'xxx'], ['no', 'xx']] as const) {
      expect(scrubbed(resolvedContent(card, original, { outcome: 'applied', chosenOptionId: chosen })))
        .toMatchObject({ state: 'resolved', originalEventId: another, outcome: 'applied', chosenOptionId: standIn });
    }
    expect(scrubbed(resolvedContent(card, original, { outcome: 'timed_out', chosenOptionId: null })))
      .toMatchObject({ outcome: 'timed_out', chosenOptionId: null });
  });

  it('keeps two options apart that have the same stand-in, and times at zero or later', () => {
    const alike: CardFacts = { ...card, expiresAt: seconds(1), options: [{ optionId: 'ab', label: '' }, { optionId: 'cd', label: '' }] };
    expect(scrubbed(pendingContent(alike))).toMatchObject({ expiresAt: 0, options: [{ optionId: 'xx' }, { optionId: 'xx-' }] });
  });

  it('is made of words that are nobody’s, beside its texts', () => {
    expect(textsOfCard(card)).toEqual(['nonce', 'session', '', 'Sweep the path', 'yes', 'Allow', 'no', 'Deny']);
    for (const other of ['{"v":1}', 'words', '{']) expect(cardIn(other)).toBeUndefined();
  });

  it('is what the gate takes for one: a space that is none in JSON makes it a message', () => {
    expect(cardIn(`\n${pendingContent(card)}`)).toBeDefined();
    expect(cardIn(`\u{a0}${pendingContent(card)}`)).toBeUndefined();
  });
});
