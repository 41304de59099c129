/** Fixtures for the replay's tests, made from the supervisor's test people. */
import { compileTurn } from '../../compiler/index.ts';
import type { TurnInput } from '../../compiler/index.ts';
import type { Sighting, StreamFixture, StreamSettings, StreamStep } from '../../src/replay/index.ts';
import type { TurnFixture } from '../../src/replay/index.ts';
import type { VerifiedEvent } from '../../src/nostr/index.ts';
import { agent, channel, inThread, message, owner, someRoot } from '../supervisor/people.ts';

export function turnSample(content = 'What is the state of the garden?', more: Partial<TurnInput> = {}): TurnFixture {
  const input: TurnInput = {
    v: 1,
    channelId: channel,
    channel: { name: 'garden', type: 'stream', description: 'Beds & hives' },
    events: [{ event: message({ content }), rule: '@mention' }],
    history: { scope: 'thread', messages: [{ eventId: someRoot, pubkey: owner.pubkey, timestamp: 1, content: 'Hello' }], total: 3, truncated: true },
    standing: { base: 'Be brief.', system: 'You look after the garden.' },
    standingRole: 'system',
    ...more,
  };
  return { provenance: 'made: a sample', input, output: compileTurn(input) };
}

export const SETTINGS: StreamSettings = {
  agent: agent.pubkey, owner: owner.pubkey, respondTo: 'owner-only', allowlist: [], subscribe: 'mentions', session: 'channel', gatherMs: 200,
  processes: 1,
};

export function arrive(atMs: number, event: VerifiedEvent, more: Partial<Extract<StreamStep, { do: 'arrive' }>> = {}): StreamStep {
  return { atMs, do: 'arrive', channelId: channel, event, author: { isAgent: false }, channelType: 'stream', ...more };
}

export function done(atMs: number, turn: number): StreamStep {
  return { atMs, do: 'finish', turn, ending: { how: 'done', outcome: 'end_turn' } };
}

export function failed(atMs: number, turn: number, jitter = 0.5): StreamStep {
  return { atMs, do: 'finish', turn, jitter, ending: { how: 'again', reason: 'it broke', interrupted: true, cause: 'failure' } };
}

export function streamSample(): StreamFixture {
  const [first, second] = [message({ tags: inThread(someRoot) }), message({ tags: inThread(someRoot) })];
  const expected: readonly Sighting[] = [
    { atMs: 0, saw: 'queued', eventId: first.id, rule: '@mention', lane: channel, hops: 0 },
    { atMs: 100, saw: 'queued', eventId: second.id, rule: '@mention', lane: channel, hops: 0 },
    { atMs: 300, saw: 'turn', turn: 1, lane: channel, channelId: channel, eventIds: [first.id, second.id], interrupted: false },
    { atMs: 900, saw: 'done', turn: 1, eventIds: [first.id, second.id], outcome: 'end_turn' },
  ];
  return { v: 1, provenance: 'made: a sample', settings: SETTINGS, steps: [arrive(0, first), arrive(100, second), done(900, 1)], expected };
}
