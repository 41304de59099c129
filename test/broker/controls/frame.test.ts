/** What is a control frame for this agent, and what it says: the cheap questions and the opened text. */
import { describe, expect, it } from 'vitest';
import { frameFault, readFrameBody } from '../../../src/broker/controls/frame.ts';
import { seconds } from '../../../src/model/index.ts';
import { AGENT, OWNER, SIBLING, START_SEC, STRANGER } from '../people.ts';
import type { Person } from '../people.ts';

const P = ['p', AGENT.pubkey];
const NAMED = ['agent', AGENT.pubkey];
const FRAME = ['frame', 'control'];
const GOOD = [P, NAMED, FRAME];

function fault(tags: readonly (readonly string[])[], { by = OWNER, characters = 132, atSec = START_SEC }: {
  readonly by?: Person; readonly characters?: number; readonly atSec?: number;
} = {}): string | undefined {
  const event = by.sign({ kind: 24_200, tags: tags.map((tag) => [...tag]), content: 'x'.repeat(characters), createdAtSec: atSec });
  return frameFault(event, { agent: AGENT.pubkey, owner: OWNER.pubkey }, seconds(START_SEC));
}

describe('a frame', () => {
  it('of the owner, for this agent, is opened', () => {
    expect(fault(GOOD)).toBeUndefined();
    expect(fault([...GOOD, ['h', 'a channel']])).toBeUndefined();
  });

  it.each([['a stranger', STRANGER], ['a sibling', SIBLING], ['the agent itself', AGENT]])('of %s is not', (_, by) => {
    expect(fault(GOOD, { by })).toBe('sender');
  });

  it.each([
    ['no p', [NAMED, FRAME]], ['two p', [P, P, NAMED, FRAME]], ['a second p', [P, ['p', SIBLING.pubkey], NAMED, FRAME]],
    ['no agent', [P, FRAME]], ['two agents', [P, NAMED, NAMED, FRAME]], ['no frame', [P, NAMED]], ['two frames', [P, NAMED, FRAME, FRAME]],
    ['a p without a value', [['p'], NAMED, FRAME]],
  ])('with %s is not: each of them is there once', (_, tags) => {
    expect(fault(tags)).toBe('tags');
  });

  it('for another is not', () => {
    expect(fault([['p', SIBLING.pubkey], NAMED, FRAME])).toBe('recipient');
    expect(fault([P, ['agent', SIBLING.pubkey], FRAME])).toBe('recipient');
    expect(fault([['p', AGENT.pubkey.toUpperCase()], NAMED, FRAME])).toBe('recipient');
  });

  it.each(['telemetry', 'tomorrow', 'CONTROL', ''])('of the direction %o is not', (direction) => {
    expect(fault([P, NAMED, ['frame', direction]])).toBe('direction');
  });

  it.each([[-301, 'stale'], [-300, undefined], [300, undefined], [301, 'stale'], [-360, 'stale'], [-240, undefined]])(
    'that is %i s from now: %s', (bySec, verdict) => {
      expect(fault(GOOD, { atSec: START_SEC + bySec })).toBe(verdict);
    });

  it.each([[131, 'length'], [132, undefined], [87_472, undefined], [87_473, 'length'], [0, 'length']])('of %i characters: %s', (characters, verdict) => {
    expect(fault(GOOD, { characters })).toBe(verdict);
  });
});

describe('an opened text', () => {
  it('is an object with a type', () => {
    const body = { type: 'cancel_turn', channelId: 'x', more: [1] };
    expect(readFrameBody(JSON.stringify(body))).toEqual({ ok: true, type: 'cancel_turn', body });
    expect(readFrameBody('{"type":""}')).toMatchObject({ ok: true, type: '' });
  });

  it.each([
    '', 'cancel', '[]', '"type"', 'null', '1', '{}', '{"type":1}', '{"type":null}', '{"type":["cancel_turn"]}', '{"type":"x"', '{"type":"x"}}',
    '{"type":"a","type":"a"}', '{"type":"a","\\u0074ype":"b"}', '{"type":"a","b":{"c":1,"c":1}}', '[{"type":"x"}]', '['.repeat(60_000),
  ])('that is %s is none', (text) => {
    expect(readFrameBody(text)).toMatchObject({ ok: false, code: 'content' });
  });

  it.each([[65_535, true], [65_536, false]])('of %i bytes: %s', (bytes, ok) => {
    const around = '{"type":"x","a":""}'.length;
    expect(readFrameBody(`{"type":"x","a":"${'é'.repeat((bytes - around - 1) / 2)}${'b'.repeat((bytes - around - 1) % 2 === 0 ? 1 : 2)}"}`).ok).toBe(ok);
  });
});
