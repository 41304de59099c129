/** Instances: slim with a definition, whole without one, and fat as old writers have them. NIP-AP "Slimming". */
import { describe, expect, it } from 'vitest';
import { eventId, seconds } from '../../src/model/index.ts';
import type { UnverifiedEvent } from '../../src/nostr/index.ts';
import { instanceTemplate, ownCommand, plainDefinition, readInstance, resolveModel } from '../../src/persona/index.ts';
import type { Instance } from '../../src/persona/index.ts';
import { agent, owner, stranger } from './people.ts';

const OWN = { systemPrompt: 'Be kind.', model: 'm', provider: 'p', sourceVersion: 'v9' };
const LONE: Instance = { agent, name: 'Bee', own: OWN, parallelism: 2, respondTo: 'allowlist', respondToAllowlist: [stranger] };
const LINKED: Instance = { ...LONE, definitionId: 'builtin:bee' };

function contentOf(instance: Instance): string {
  const made = instanceTemplate(instance, seconds(7));
  return made.ok ? made.template.content : made.code;
}

function eventOf(content: string, tags: UnverifiedEvent['tags'] = [['d', agent]], kind = 30_177): UnverifiedEvent {
  return { id: eventId('0'.repeat(64)), pubkey: owner, created_at: seconds(1), kind, tags, content, sig: '0'.repeat(128) };
}

describe('an instance', () => {
  it('with a definition says nothing that the definition says', () => {
    expect(contentOf(LINKED)).toBe(`{"name":"Bee","persona_id":"builtin:bee","parallelism":2,"respond_to":"allowlist","respond_to_allowlist":["${stranger}"]}`);
  });

  it('without one says it all', () => {
    expect(contentOf(LONE)).toBe(`{"name":"Bee","system_prompt":"Be kind.","model":"m","provider":"p","persona_source_version":"v9","parallelism":2,"respond_to":"allowlist","respond_to_allowlist":["${stranger}"]}`);
    expect(contentOf({ agent, name: 'Bee', own: {}, respondToAllowlist: [] })).toBe('{"name":"Bee"}');
    expect(contentOf({ ...LONE, own: { systemPrompt: 'x'.repeat(66_000) } })).toBe('size');
  });

  it('is addressed by its agent', () => {
    const made = instanceTemplate(LINKED, seconds(7));
    expect(made).toMatchObject({ ok: true, template: { kind: 30_177, created_at: 7, tags: [['d', agent]] } });
  });

  it('comes back as it was written', () => {
    expect(readInstance(eventOf(contentOf(LONE)))).toEqual({ ok: true, instance: LONE });
    expect(readInstance(eventOf(contentOf(LINKED)))).toEqual({ ok: true, instance: { ...LINKED, own: {} } });
  });

  it('is read fat, and the definition’s head is right where both speak', () => {
    const reading = readInstance(eventOf('{"name":"Bee","persona_id":"bee","system_prompt":"old","model":"old","provider":"old","auth":"x"}'));
    if (!reading.ok) return expect.fail(reading.detail);
    expect(reading.instance.own).toEqual({ systemPrompt: 'old', model: 'old', provider: 'old', sourceVersion: undefined });
    expect(resolveModel(reading.instance, { ...plainDefinition('Bee'), model: 'new' })).toEqual({ model: 'new', provider: 'old' });
    expect(resolveModel(reading.instance, undefined)).toEqual({ model: 'old', provider: 'old' });
  });

  it.each([
    ['no agent', '{"name":"a"}', [['d', 'bee']], 30_177, 'envelope'], ['an agent in capitals', '{"name":"a"}', [['d', agent.toUpperCase()]], 30_177, 'envelope'],
    ['another kind', '{"name":"a"}', [['d', agent]], 30_175, 'envelope'], ['no name', '{}', [['d', agent]], 30_177, 'content'],
    ['a number for a prompt', '{"name":"a","system_prompt":1}', [['d', agent]], 30_177, 'content'], ['no JSON', '', [['d', agent]], 30_177, 'content'],
  ])('is none with %s', (_, content, tags, kind, code) => {
    expect(readInstance(eventOf(content, tags, kind))).toMatchObject({ ok: false, code });
  });
});

describe('the transport of one’s own head', () => {
  it.each([
    ['private, absent', { found: undefined, isShared: false }, '/opt/acp', 'buzz-acp'],
    ['private, custom', { found: '/new/acp', isShared: false }, '/opt/acp', '/new/acp'],
    ['private, portable', { found: 'buzz-x-acp', isShared: false }, '/opt/acp', 'buzz-x-acp'],
    ['shared, absent, a path here', { found: undefined, isShared: true }, '/opt/acp', '/opt/acp'],
    ['shared, absent, a portable one here', { found: undefined, isShared: true }, 'buzz-x-acp', 'buzz-acp'],
    ['shared, absent, nothing here', { found: undefined, isShared: true }, undefined, 'buzz-acp'],
    ['shared, stock, a path here', { found: 'buzz-acp', isShared: true }, '/opt/acp', 'buzz-acp'],
    ['shared, portable, a path here', { found: 'buzz-x-acp', isShared: true }, '/opt/acp', 'buzz-x-acp'],
    ['shared, a path that no writer may put there', { found: '/their/acp', isShared: true }, '/opt/acp', '/opt/acp'],
    ['the same with nothing here', { found: '/their/acp', isShared: true }, undefined, 'buzz-acp'],
  ])('%s', (_, head, local, expected) => {
    expect(ownCommand(head, local)).toBe(expected);
  });
});
