import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTurnInput } from '../../compiler/index.ts';
import { eventId } from '../../src/model/index.ts';
import { entriesOf, evidenceOf, MAX_BATCH } from '../../src/supervisor/inbox/entry.ts';
import type { Batch, CutTurn, Entry, MergeMode } from '../../src/supervisor/inbox/entry.ts';
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

describe('of a turn for which others were cut short, however many of their messages', () => {
  const ANY = message();
  const entry = (index: number, interrupted: boolean): Entry => {
    const id = eventId(index.toString(16).padStart(64, '0'));
    return entryOf(ANY, index, { eventId: id, interrupted, event: { ...ANY, id } });
  };
  const sizes = fc.record({
    mode: fc.constantFrom('steer' as const, 'interrupt' as const), carried: fc.nat(MAX_BATCH), merged: fc.nat(MAX_BATCH),
    own: fc.array(fc.boolean(), { minLength: 1, maxLength: MAX_BATCH }),
  });
  const batchWith = ({ mode, carried, merged, own }: { readonly mode: MergeMode; readonly carried: number; readonly merged: number; readonly own: readonly boolean[] }): Batch => {
    const cut = (from: number, size: number): CutTurn | undefined => {
      const [head, ...others] = Array.from({ length: size }, (_, index) => entry(from + index, true));
      return head && { mode, entries: [head, ...others] };
    };
    const [over, back] = [cut(0, carried), cut(carried, merged)];
    const [head = entry(carried + merged, false), ...others] = own.map((interrupted, index) => entry(carried + merged + index, interrupted));
    return { ...batchOf(head, ...others), ...(back && { merged: back }), ...(over && { carried: over }) };
  };

  it('every message that it answers is shown, within the format, in order of age', () => {
    fc.assert(fc.property(sizes, (parts) => {
      const batch = batchWith(parts);
      const input = turnInput(batch, facts, { base: 'b' }, 'sent');
      const interrupted = (input.interrupted?.events ?? []).map(({ event }) => event.id);
      const shown = new Set([...interrupted, ...input.events.map(({ event }) => event.id)]);
      expect(entriesOf(batch).filter(({ eventId: id }) => !shown.has(id))).toEqual([]);
      expect(interrupted).toEqual([...interrupted].sort());
      const { length } = [...evidenceOf(batch), ...batch.entries.filter((one) => one.interrupted)];
      expect(interrupted).toHaveLength(Math.min(length, MAX_BATCH));
    }));
  });

  it('what is over gives way, the oldest of it first', () => {
    const input = turnInput(batchWith({ mode: 'steer', carried: 3, merged: MAX_BATCH - 3, own: [true, false] }), facts, { base: 'b' }, 'sent');
    expect(input.interrupted?.events.slice(0, 3).map(({ event }) => Number(`0x${event.id}`))).toEqual([1, 2, 3]);
  });
});

it('peopleIn are authors, mentions that are pubkeys, and the authors of history, once each', () => {
  const odd = entryOf(message({ tags: [['h', channel], ['p', agent.pubkey.toUpperCase()], ['p', 'nobody'], ['p', '__proto__']] }), 2);
  expect([...peopleIn([first, odd], facts.history)].sort()).toEqual([owner.pubkey, agent.pubkey, friend.pubkey].sort());
});
