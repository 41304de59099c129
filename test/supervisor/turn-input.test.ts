import { describe, expect, it } from 'vitest';
import { parseTurnInput } from '../../compiler/index.ts';
import type { Batch } from '../../src/supervisor/inbox/entry.ts';
import { peopleIn, turnInput } from '../../src/supervisor/turn-input.ts';
import type { TurnFacts } from '../../src/supervisor/turn-input.ts';
import { agent, channel, entryOf, friend, inThread, message, owner, someRoot } from './people.ts';

const first = entryOf(message({ tags: inThread(someRoot), content: 'first' }), 0);
const second = entryOf(message({ tags: inThread(someRoot), content: 'second' }), 1);
const facts: TurnFacts = {
  channel: { name: 'garden', type: 'stream' }, historyDelivered: false,
  history: { scope: 'thread', messages: [{ eventId: someRoot, pubkey: friend.pubkey, timestamp: 1, content: 'hi' }], total: 1, truncated: false },
  profiles: new Map([
    [owner.pubkey, { displayName: 'Olga', isAgent: false, owner: agent.pubkey }], [friend.pubkey, { isAgent: false }], [agent.pubkey, { isAgent: true }],
  ]),
};
const batchOf = (...entries: Batch['entries']): Batch => ({ turnId: 't', lane: channel, channelId: channel, entries });

describe('turnInput', () => {
  it('is valid turn input v1, with what is known and nothing of ours', () => {
    const input = turnInput(batchOf(first, second), facts, { base: 'b', system: 's' }, 'prompt');
    expect(parseTurnInput(JSON.parse(JSON.stringify(input)))).toMatchObject({ ok: true });
    expect(input.events.map((one) => one.event.content)).toEqual(['first', 'second']);
    expect(Object.keys(input.profiles ?? {}).sort()).toEqual([agent.pubkey, owner.pubkey].sort());
    expect(input.profiles?.[owner.pubkey]).toEqual({ displayName: 'Olga' });
    expect(input).not.toHaveProperty('interrupted');
  });

  it('leaves out what is not known', () => {
    const input = turnInput(batchOf(first), { ...facts, channel: undefined, history: undefined, profiles: new Map() }, { base: 'b' }, 'sent');
    for (const member of ['channel', 'history', 'historyDelivered', 'profiles']) expect(input).not.toHaveProperty(member);
  });

  it('makes a turn that was cut short its own instruction again, and says so', () => {
    const input = turnInput(batchOf({ ...first, interrupted: true }), facts, { base: 'b' }, 'sent');
    expect(input.interrupted?.events).toHaveLength(1);
    expect(input.events.map((one) => one.event.content)).toEqual(['first']);
  });
});

it('peopleIn are authors, mentions that are pubkeys, and the authors of history, once each', () => {
  const odd = entryOf(message({ tags: [['h', channel], ['p', agent.pubkey.toUpperCase()], ['p', 'nobody'], ['p', '__proto__']] }), 2);
  expect([...peopleIn([first, odd], facts.history)].sort()).toEqual([owner.pubkey, agent.pubkey, friend.pubkey].sort());
});
