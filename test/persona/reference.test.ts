/** The reference events of NIP-AP, byte for byte, their ids and signatures derived a second time by other code. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { schnorr } from '@noble/curves/secp256k1.js';
import { describe, expect, it } from 'vitest';
import { seconds } from '../../src/model/index.ts';
import { parseEvent, signEvent, verifyEvent } from '../../src/nostr/index.ts';
import type { UnverifiedEvent } from '../../src/nostr/index.ts';
import {
  catalogMember, definitionTemplate, headAt, instanceTemplate, plainDefinition, readCatalog, readDefinition, readInstance, readVersion, writeCatalog, writeDefinition,
} from '../../src/persona/index.ts';
import type { Definition } from '../../src/persona/index.ts';
import { buildPersonas, textOfPersona } from '../../fixtures/make/personas.ts';
import { agent, keyOf, owner } from './people.ts';
import { ownerKey } from './world.ts';

const FOLDER = new URL('../../fixtures/personas/', import.meta.url);
const ZERO = new Uint8Array(32);

function recorded(name: string): UnverifiedEvent {
  const { event } = JSON.parse(readFileSync(new URL(`${name}.event`, FOLDER), 'utf8')) as { readonly event: unknown };
  const parsed = parseEvent(event);
  return parsed.ok ? parsed.event : expect.fail(parsed.detail);
}

const FULL: Definition = {
  ...plainDefinition('Test Agent'), systemPrompt: 'You are a test assistant.', avatarUrl: 'https://example.com/avatar.png', runtime: 'goose',
  model: 'claude-opus-4', provider: 'anthropic', namePool: ['Alpha', 'Beta'],
};

describe('the reference events', () => {
  it.each<[string, string, number, Definition]>([
    ['reference-all-fields', 'test-agent', 1_700_000_000, FULL],
    ['reference-minimal', 'minimal', 1_700_000_001, plainDefinition('Minimal')],
    ['reference-replacement', 'test-agent', 1_700_000_002, { ...FULL, systemPrompt: 'You are an updated test assistant.', namePool: ['Alpha', 'Beta', 'Gamma'] }],
  ])('%s is what we write and read', (name, slug, createdAt, definition) => {
    const event = recorded(name);
    const writing = writeDefinition(definition, false);
    if (!writing.ok) return expect.fail(writing.detail);
    const template = definitionTemplate({ slug, body: writing.body, isShared: false, createdAt: seconds(createdAt) });
    expect(signEvent(template, keyOf(1), ZERO)).toEqual(event);
    expect(readDefinition(event)).toEqual({ ok: true, slug, definition, isShared: false });
  });

  it('the replacement is the head', () => {
    const events = [recorded('reference-replacement'), recorded('reference-all-fields'), recorded('reference-minimal')];
    expect(headAt({ kind: 30_175, author: owner, d: 'test-agent' }, events)).toEqual(events[0]);
  });
});

describe('the other events', () => {
  it('a definition in the catalog', () => {
    const definition: Definition = {
      ...plainDefinition('Scout'), systemPrompt: '', respondTo: 'owner-only', parallelism: 2, description: 'Looks around.', sessionPolicy: 'thread',
    };
    expect(writeDefinition(definition, true)).toMatchObject({ ok: true, body: recorded('definition-shared').content });
    expect(readDefinition(recorded('definition-shared'))).toEqual({ ok: true, slug: 'scout', definition: { ...definition, acpCommand: 'buzz-acp' }, isShared: true });
  });

  it.each(['instance-linked', 'instance-alone'])('%s', (name) => {
    const event = recorded(name);
    const reading = readInstance(event);
    if (!reading.ok) return expect.fail(reading.detail);
    expect(reading.instance.agent).toBe(agent);
    expect(instanceTemplate(reading.instance, event.created_at)).toMatchObject({ ok: true, template: { content: event.content, tags: event.tags } });
  });

  it('a team in the catalog', () => {
    const members = [catalogMember('scout', { ...plainDefinition('Scout'), systemPrompt: 'Look.', respondTo: 'allowlist', respondToAllowlist: [owner] })];
    const catalog = { name: 'Welcome', description: undefined, instructions: 'Greet.', members };
    expect(writeCatalog(catalog)).toMatchObject({ ok: true, body: recorded('team-shared').content });
    expect(readCatalog(recorded('team-shared'))).toEqual({ ok: true, id: 'builtin-team:welcome', catalog, isShared: true });
  });

  it.each([
    ['version-agent', { status: 'valid', text: 'Answer in one line.' }], ['version-empty', { status: 'valid', text: '' }], ['version-team', { status: 'valid', text: 'Grüße, 🐝\n' }],
    ['version-without-prefix', { status: 'invalid', fault: 'prefix', detail: 'text: expected to begin with v1:' }],
  ])('%s', async (name, reading) => {
    const { id, created_at: createdAt } = recorded(name);
    expect(await readVersion(recorded(name), ownerKey())).toEqual({ ok: true, version: { id, createdAt, reading } });
  });
});

describe('what is recorded', () => {
  it.each(buildPersonas().map((one) => [one.name, one] as const))('%s is as it is made, and says where it comes from', (name, made) => {
    const text = readFileSync(new URL(`${name}.event`, FOLDER), 'utf8');
    expect(text).toBe(textOfPersona(made));
    expect((JSON.parse(text) as { readonly provenance: string }).provenance).toMatch(/^(NIP-AP|made)/);
  });

  it('is all there is', () => {
    expect(readdirSync(FOLDER).sort()).toEqual(buildPersonas().map(({ name }) => `${name}.event`).sort());
  });

  it.each(buildPersonas().map(({ name }) => name))('%s: id and signature are those of other code', (name) => {
    const { id, pubkey, created_at: at, kind, tags, content, sig } = recorded(name);
    const digest = createHash('sha256').update(JSON.stringify([0, pubkey, at, kind, tags, content])).digest();
    expect(id).toBe(digest.toString('hex'));
    expect(sig).toBe(Buffer.from(schnorr.sign(digest, keyOf(1), ZERO)).toString('hex'));
    expect(verifyEvent(recorded(name)).ok).toBe(true);
  });
});
