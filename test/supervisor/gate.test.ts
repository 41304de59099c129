import { describe, expect, it } from 'vitest';
import { pendingContent } from '../../src/cards/index.ts';
import { seconds } from '../../src/model/index.ts';
import { admit, MAX_CHANNEL_HOPS, MAX_HOPS, sift } from '../../src/supervisor/gate.ts';
import type { AdmitFacts, GateSettings, RespondTo } from '../../src/supervisor/gate.ts';
import { agent, channel, friend, message, owner, person, sibling } from './people.ts';

const stranger = person(9);

function settings(more: Partial<GateSettings> = {}): GateSettings {
  return {
    agent: agent.pubkey, owner: owner.pubkey, respondTo: 'owner-only', allowlist: new Set([friend.pubkey]),
    subscribe: 'mentions', ...more,
  };
}

const inStream: AdmitFacts = { author: { isAgent: false }, channelType: 'stream', hops: { inDestination: 0, inChannel: 0 } };

describe('sift', () => {
  it('lets a mention of the agent through, in either case', () => {
    expect(sift(message(), settings())).toEqual({ pass: true, rule: '@mention' });
    const loud = message({ tags: [['h', channel], ['p', agent.pubkey.toUpperCase()]] });
    expect(sift(loud, settings())).toEqual({ pass: true, rule: '@mention' });
  });

  it.each([
    ['own', message({ by: agent })],
    ['ours', message({ tags: [['h', channel], ['p', agent.pubkey], ['skep', 'notice']] })],
    ['kind', message({ kind: 7 })],
    ['kind', message({ kind: 40_003 })],
    ['kind', message({ kind: 20_002 })],
    ['no-mention', message({ tags: [['h', channel]] })],
    ['no-mention', message({ tags: [['h', channel], ['p', friend.pubkey]] })],
  ])('refuses as %s', (reason, event) => {
    expect(sift(event, settings())).toEqual({ pass: false, reason });
  });

  it('refuses a permission card as ours, whoever wrote it and whoever it names', () => {
    const content = pendingContent({
      requestNonce: 'n', sessionId: null, turnId: null, expiresAt: seconds(1), description: null,
      options: [{ optionId: 'yes', label: '' }, { optionId: 'no', label: '' }],
    });
    for (const by of [sibling, friend, owner]) expect(sift(message({ by, content }), settings())).toEqual({ pass: false, reason: 'ours' });
    expect(sift(message({ by: sibling, content: ` ${content}` }), settings()).pass).toBe(false);
    for (const other of [content.replace('"v":1', '"v":2'), `${content} please`, '{"v":1}', '{']) {
      expect(sift(message({ content: other }), settings()).pass).toBe(true);
    }
  });

  it('takes every message of the channel under `all`', () => {
    expect(sift(message({ tags: [['h', channel]] }), settings({ subscribe: 'all' }))).toEqual({ pass: true, rule: 'all' });
  });

  it('hears nobody under `nobody`, not even the owner', () => {
    expect(sift(message(), settings({ respondTo: 'nobody' }))).toEqual({ pass: false, reason: 'nobody' });
  });
});

describe('admit', () => {
  const table: readonly (readonly [RespondTo, string, 'owner' | 'friend' | 'stranger', boolean])[] = [
    ['owner-only', 'stream', 'owner', true], ['owner-only', 'stream', 'friend', false], ['owner-only', 'stream', 'stranger', false],
    ['allowlist', 'stream', 'owner', true], ['allowlist', 'stream', 'friend', true], ['allowlist', 'stream', 'stranger', false],
    ['anyone', 'stream', 'owner', true], ['anyone', 'stream', 'friend', true], ['anyone', 'stream', 'stranger', true],
    ['owner-only', 'dm', 'owner', true], ['allowlist', 'dm', 'friend', false], ['anyone', 'dm', 'stranger', false],
    ['anyone', 'dm', 'owner', true],
  ];

  it.each(table)('%s in a %s: %s → %s', (respondTo, channelType, who, pass) => {
    const by = { owner, friend, stranger }[who];
    expect(admit(message({ by }), settings({ respondTo }), { ...inStream, channelType }).pass).toBe(pass);
  });

  it('hears who owns its owner, where an agent made it, and nobody else for that', () => {
    const made = settings({ ancestors: new Set([friend.pubkey]) });
    const said = (by: typeof friend) => message({ by, tags: [['h', channel], ['p', agent.pubkey]] });
    const facts = { ...inStream, channelType: 'dm' };
    expect([admit(said(friend), made, facts).pass, admit(said(stranger), made, facts).pass]).toEqual([true, false]);
    expect(admit(said(friend), settings(), facts).pass).toBe(false);
  });

  it('treats a channel nobody described as a direct message', () => {
    const unknown = { ...inStream, channelType: undefined };
    expect(admit(message({ by: stranger }), settings({ respondTo: 'anyone' }), unknown).pass).toBe(false);
    expect(admit(message(), settings({ respondTo: 'anyone' }), unknown).pass).toBe(true);
  });

  it('lets agents of the same owner pass, and only those', () => {
    const ours: AdmitFacts = { ...inStream, author: { isAgent: true, owner: owner.pubkey } };
    const theirs: AdmitFacts = { ...inStream, author: { isAgent: true, owner: stranger.pubkey } };
    expect(admit(message({ by: sibling }), settings(), ours)).toEqual({ pass: true, hops: 1 });
    expect(admit(message({ by: sibling }), settings(), theirs).pass).toBe(false);
  });

  it('ends a chain of agents in a thread and in a channel; a person begins anew', () => {
    const author = { isAgent: true, owner: owner.pubkey };
    const at = (inDestination: number, inChannel: number) =>
      admit(message({ by: sibling }), settings(), { ...inStream, author, hops: { inDestination, inChannel } });
    expect(at(MAX_HOPS - 1, MAX_HOPS - 1)).toEqual({ pass: true, hops: MAX_HOPS });
    expect(at(MAX_HOPS, MAX_HOPS)).toEqual({ pass: false, reason: 'hop-cap' });
    expect(at(0, MAX_CHANNEL_HOPS - 1)).toEqual({ pass: true, hops: 1 });
    expect(at(0, MAX_CHANNEL_HOPS)).toEqual({ pass: false, reason: 'hop-cap' });
    const person = admit(message(), settings(), { ...inStream, hops: { inDestination: 99, inChannel: 99 } });
    expect(person).toEqual({ pass: true, hops: 0 });
  });
});
