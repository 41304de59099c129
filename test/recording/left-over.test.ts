/** The last look at a scrubbed fixture: it finds what is left, wherever it stands, and nothing where nothing is. */
import { describe, expect, it } from 'vitest';
import { compileTurn } from '../../compiler/index.ts';
import type { TurnInput } from '../../compiler/index.ts';
import { toNpub } from '../../src/nostr/index.ts';
import { leftOver } from '../../src/recording/scrub/left-over.ts';
import type { Fixture } from '../../src/replay/index.ts';
import { agent, channel, friend, message, otherChannel, owner } from '../supervisor/people.ts';

const npub = toNpub(agent.pubkey);
const original = turn({ standing: { system: `ask ${npub}` } });

function turn(more: Partial<TurnInput>): Fixture {
  const input: TurnInput = { v: 1, channelId: channel, events: [{ event: message({ by: owner }), rule: '@mention' }], standingRole: 'system', ...more };
  return { is: 'turn', turn: { provenance: 'a test', input, output: compileTurn(input) } };
}

describe('the last look', () => {
  const clean = { channelId: otherChannel, events: [{ event: message({ by: friend, tags: [] }), rule: '@mention' }] };

  it('finds nothing in a fixture that shares nothing', () => {
    expect(leftOver(original, turn(clean))).toBeUndefined();
  });

  it.each([
    ['a key or id', { ...clean, events: [{ event: message({ by: friend, tags: [], content: `(${owner.pubkey.toUpperCase()})` }), rule: '@mention' }] }],
    ['a UUID', { ...clean, channelId: channel }],
    ['an npub', { ...clean, standing: { coreMemory: npub } }],
  ])('finds %s', (what, more) => {
    expect(leftOver(original, turn(more))).toBe(what);
  });
});
