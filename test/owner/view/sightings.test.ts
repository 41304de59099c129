/** Which events are frames, cards and edits for an owner, and which only look like it. */
import { describe, expect, it } from 'vitest';
import { seconds } from '../../../src/model/index.ts';
import { cardIn, editIn, FRAME_WINDOW_SEC, isTelemetryFor } from '../../../src/owner/view/index.ts';
import { alice, bob, carol, OPEN, PRIVATE } from '../../relay/harness.ts';

const NOW = seconds(1_800_000_000);
const owner = alice.pubkey;

describe('telemetry', () => {
  const tags = (p = owner, agent = bob.pubkey, frame = 'telemetry'): readonly (readonly string[])[] => [['p', p], ['agent', agent], ['frame', frame]];
  const at = (sec: number): number => NOW + sec;

  it.each<readonly [string, number, readonly (readonly string[])[], number, boolean]>([
    ['as it should be', 24_200, tags(), 0, true], ['at the edge of the window', 24_200, tags(), -FRAME_WINDOW_SEC, true],
    ['with a channel', 24_200, [...tags(), ['h', OPEN]], 0, true],
    ['too old', 24_200, tags(), -FRAME_WINDOW_SEC - 1, false], ['too far ahead', 24_200, tags(), FRAME_WINDOW_SEC + 1, false],
    ['to somebody else', 24_200, tags(carol.pubkey), 0, false], ['about another agent', 24_200, tags(owner, carol.pubkey), 0, false],
    ['that is a control frame', 24_200, tags(owner, bob.pubkey, 'control'), 0, false], ['of another kind', 24_201, tags(), 0, false],
    ['with two p', 24_200, [...tags(), ['p', owner]], 0, false], ['with two agents', 24_200, [...tags(), ['agent', bob.pubkey]], 0, false],
    ['with two frames', 24_200, [...tags(), ['frame', 'telemetry']], 0, false], ['without a frame', 24_200, tags().slice(0, 2), 0, false],
  ])('%s', (_, kind, frameTags, sec, counts) => {
    expect(isTelemetryFor(bob.sign(kind, frameTags, 'x', at(sec)), owner, NOW)).toBe(counts);
  });
});

const FACTS = {
  v: 1, state: 'pending', requestNonce: 'n', sessionId: null, turnId: '', expiresAt: NOW + 300, optionIds: ['yes', 'no'], labels: { yes: 'Yes', no: 'No' }, description: null,
};

describe('a card', () => {
  const sign = (tags: readonly (readonly string[])[], content: object = FACTS, kind = 9): ReturnType<typeof cardIn> => cardIn(bob.sign(kind, tags, JSON.stringify(content), NOW), owner);

  it('is a pending one to this owner alone; agent and channel are the event\'s', () => {
    expect(sign([['h', OPEN], ['p', owner]], { ...FACTS, agent: carol.pubkey, channelId: PRIVATE })).toMatchObject({ type: 'card', agent: bob.pubkey, channelId: OPEN, createdAt: NOW, card: { requestNonce: 'n' } });
  });

  it.each<readonly [string, ReturnType<typeof cardIn>]>([
    ['to somebody else', sign([['h', OPEN], ['p', carol.pubkey]])], ['to two', sign([['h', OPEN], ['p', owner], ['p', carol.pubkey]])], ['to nobody', sign([['h', OPEN]])],
    ['outside a channel', sign([['p', owner]])], ['of another kind', sign([['h', OPEN], ['p', owner]], FACTS, 40_002)],
    ['that is no card', sign([['h', OPEN], ['p', owner]], { text: 'hello' })],
    ['that has ended', sign([['h', OPEN], ['p', owner]], { ...FACTS, state: 'resolved', originalEventId: 'a'.repeat(64), outcome: 'timed_out', chosenOptionId: null })],
  ])('%s is none', (_, found) => {
    expect(found).toBeUndefined();
  });
});

describe('an edit', () => {
  const original = 'a'.repeat(64);
  const ended = { ...FACTS, state: 'resolved', originalEventId: original, outcome: 'applied', chosenOptionId: 'no' };
  const sign = (tags: readonly (readonly string[])[], content: object = ended, kind = 40_003): ReturnType<typeof editIn> => editIn(bob.sign(kind, tags, JSON.stringify(content), NOW));

  it('says of the card that tag and content name how it ended', () => {
    expect(sign([['h', OPEN], ['e', original]])).toMatchObject({ type: 'edit', agent: bob.pubkey, channelId: OPEN, card: { outcome: 'applied', chosenOptionId: 'no' } });
  });

  it.each<readonly [string, ReturnType<typeof editIn>]>([
    ['of another event than it says', sign([['h', OPEN], ['e', 'b'.repeat(64)]])], ['of nothing', sign([['h', OPEN]])], ['outside a channel', sign([['e', original]])],
    ['of another kind', sign([['h', OPEN], ['e', original]], ended, 9)], ['that does not end it', sign([['h', OPEN], ['e', original]], FACTS)],
  ])('%s is none', (_, found) => {
    expect(found).toBeUndefined();
  });
});
