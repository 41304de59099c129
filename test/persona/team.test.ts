/** Team records, the older team event, and the shared team with its adoption. NIP-AP "Teams", "Team catalog projection". */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { eventId, seconds } from '../../src/model/index.ts';
import type { EventTemplate, UnverifiedEvent } from '../../src/nostr/index.ts';
import {
  adoptTeam, asTeamId, CATALOG_MAX_BYTES, catalogMember, catalogTemplate, deleteAt, deleteTeam, headAt, plainDefinition, projectionHash, publishAt, readCatalog, readTeam,
  readTeamEvent, readTeamRecord, readTeams, saveTeamInstructions, teamRecordAddress, teamsOf, writeCatalog, writeTeam, writeTeamRecord,
} from '../../src/persona/index.ts';
import type { Catalog, Definition, OwnerPorts, Publication, Team, TeamId, TeamRecord } from '../../src/persona/index.ts';
import { steadyClock } from '../../src/system/index.ts';
import { agent, owner, stranger } from './people.ts';
import { memoryRelay, ownerKey, ports, seal, signed } from './world.ts';

function teamId(text: string): TeamId {
  return asTeamId(text) ?? expect.fail('no team id');
}

const BEES: Team = { status: 'live', id: teamId('Bees'), name: 'Bees', definitions: ['bee'], agents: [agent] };
const DEFINITION: Definition = {
  displayName: 'Bee', systemPrompt: undefined, acpCommand: '/opt/acp', avatarUrl: 'file:///home/me/a.png', runtime: 'goose', model: 'm', provider: 'p', namePool: ['A'],
  respondTo: 'allowlist', respondToAllowlist: [stranger], parallelism: 64, description: 'd', sessionPolicy: 'thread',
};

function event(kind: number, content: string, tags: UnverifiedEvent['tags'] = [['d', 'Bees']]): UnverifiedEvent {
  return { id: eventId('0'.repeat(64)), pubkey: owner, created_at: seconds(1), kind, tags, content, sig: '0'.repeat(128) };
}

describe('a team record', () => {
  const read = (plaintext: string, address = teamRecordAddress(owner, BEES.id)) => readTeamRecord(plaintext, { owner, address });
  const bodyOf = (record: TeamRecord) => {
    const written = writeTeamRecord(record);
    return written.ok ? written.body : written.code;
  };

  it.each<[string, TeamRecord]>([
    ['a team', BEES], ['one with all it can have', { ...BEES, description: 'd', instructions: '' }],
    ['a deleted one', { status: 'deleted', id: BEES.id, versions: 'left' }], ['one that is gone', { status: 'deleted', id: BEES.id, versions: 'gone' }],
  ])('comes back: %s', (_, record) => {
    expect(read(bodyOf(record))).toEqual({ ok: true, record });
  });

  it.each([
    ['another form', '{"v":2,"id":"Bees","name":"a"}'], ['no form', '{"id":"Bees","name":"a"}'], ['no id', '{"v":1,"name":"a"}'], ['no name', '{"v":1,"id":"Bees"}'],
    ['another team', '{"v":1,"id":"bees","name":"a"}'], ['an agent that is none', '{"v":1,"id":"Bees","name":"a","agents":["x"]}'], ['no JSON', 'x'],
    ['an end that is none', '{"v":1,"id":"Bees","name":"a","deleted":"maybe"}'],
  ])('is none with %s, and the refusal repeats none of it', (_, plaintext) => {
    expect(read(plaintext)).toMatchObject({ ok: false, code: 'content' });
  });

  it.each([
    ['no name', { ...BEES, name: '' }], ['half a character', { ...BEES, name: '\ud800' }], ['a definition without a slug', { ...BEES, definitions: [''] }],
  ])('that no reader would take is not written: %s', (_, record) => {
    expect(bodyOf(record)).toBe('team');
  });

  it('that cannot be read is named by its id, where it has its own', () => {
    expect(read('{"v":1,"id":"Bees"}')).toMatchObject({ detail: 'team Bees: expected a record of form 1' });
    expect(read('{"v":1,"id":"bees"}')).toMatchObject({ detail: 'team: expected a record of form 1' });
  });

  it('lies at an address that does not show its id', () => {
    expect(teamRecordAddress(owner, BEES.id)).toBe(createHash('sha256').update(`skep:team-record:v1\0${owner}\0Bees`).digest('hex'));
    expect(bodyOf({ ...BEES, instructions: 'x'.repeat(65_535) })).toBe('team');
  });

  it('is written, replaced and listed, whoever’s clock is behind', async () => {
    const relay = memoryRelay({ cap: () => 1 });
    const [ahead, behind] = [ports(relay, () => 2_000), ports(relay, () => 1_000)];
    expect(await writeTeam(ahead, BEES)).toEqual({ ok: true });
    expect(await writeTeam(behind, { ...BEES, agents: [] })).toEqual({ ok: true });
    expect(await writeTeam(behind, { ...BEES, id: teamId('Wasps') })).toEqual({ ok: true });
    const all = await readTeams(behind);
    if (!all.ok) return expect.fail(all.detail);
    expect(teamsOf(all.records, agent).map(({ id }) => id)).toEqual(['Wasps']);
    expect(all.records).toHaveLength(2);
    for (const { content, tags } of relay.events()) expect(content + JSON.stringify(tags)).not.toMatch(/Bees|Wasps/);
  });

  it.each([
    ['rejected', { verdict: () => ({ publication: { status: 'rejected', reason: 'x' } as const, stored: false }) }],
    ['overtaken', { verdict: () => ({ publication: { status: 'accepted' } as const, stored: false }) }],
    ['unavailable', { verdict: () => ({ publication: { status: 'unknown', reason: 'x' } as const, stored: false }) }],
    ['unavailable', { isComplete: () => false }],
  ])('is not written where the relay does not show it: %s', async (code, faults) => {
    expect(await writeTeam(ports(memoryRelay(faults)), BEES)).toMatchObject({ ok: false, code });
  });

  it.each([
    ['it was taken', { status: 'accepted' }], ['there was no verdict', { status: 'unknown', reason: 'x' }],
  ] as const)('is not told as written by another device where %s, and the relay is gone before it can be looked at', async (_, publication) => {
    let isGone = false;
    const verdict = (): { readonly publication: Publication; readonly stored: boolean } => { isGone = true; return { publication, stored: true }; };
    const relay = memoryRelay({ verdict, answer: (events) => (isGone ? [] : events), isComplete: () => !isGone });
    expect(await writeTeam(ports(relay), BEES)).toMatchObject({ ok: false, code: 'unknown', detail: expect.stringContaining(BEES.id) });
    isGone = false;
    expect(await readTeam(ports(relay), BEES.id)).toMatchObject({ record: { name: BEES.name } });
  });

  it('is named by its event where it does not say its team, because it holds up every start', async () => {
    const relay = memoryRelay();
    const tags = [['d', teamRecordAddress(owner, BEES.id)], ['t', 'skep-team']];
    const event = signed({ kind: 30_078, created_at: seconds(1), tags, content: seal('{"v":2}') });
    relay.put(event);
    expect(await readTeams(ports(relay))).toMatchObject({ ok: false, code: 'content', detail: expect.stringContaining(event.id) });
  });

  it.each<[string, (ports: OwnerPorts) => Promise<unknown>, unknown]>([
    ['another member', (one) => writeTeam(one, { ...BEES, agents: [agent, stranger] }), { agents: [agent, stranger] }],
    ['its end', (one) => deleteTeam(one, BEES.id, { clock: steadyClock, signal: new AbortController().signal }), { status: 'deleted', versions: 'gone' }],
  ])('is not written over what was not seen: %s, also while the signer takes its time', async (_, meanwhile, expected) => {
    const relay = memoryRelay();
    const one = ports(relay);
    await writeTeam(one, BEES);
    const slow = { ...one, key: { ...one.key, sign: async (template: EventTemplate) => { await meanwhile(one); return one.key.sign(template); } } };
    expect(await writeTeam(slow, { ...BEES, name: 'Other' }, BEES)).toMatchObject({ ok: false, code: 'unseen' });
    expect(await readTeam(one, BEES.id)).toMatchObject({ record: expected });
    expect(await writeTeam(one, { ...BEES, name: 'Other' }, BEES)).toMatchObject({ ok: false });
    expect(await readTeam(one, BEES.id)).toMatchObject({ record: expected });
  });

  it('that cannot be read is not taken for none', async () => {
    const relay = memoryRelay();
    await writeTeam(ports(relay), BEES);
    const away = ports(relay, undefined, ownerKey((call) => (call === 'open' ? 'unavailable' : undefined)));
    expect([await readTeams(away), await readTeam(away, BEES.id)]).toMatchObject([{ ok: false, code: 'unavailable' }, { ok: false, code: 'unavailable' }]);
    expect(await readTeams(ports(memoryRelay({ isComplete: () => false })))).toMatchObject({ ok: false, code: 'unavailable' });
  });

  it('gives its text to the first version, and lets go of it only when that is seen', async () => {
    const relay = memoryRelay();
    const one = ports(relay);
    await writeTeam(one, { ...BEES, instructions: 'old' });
    expect(await saveTeamInstructions(one, BEES.id, 'new')).toMatchObject({ status: 'current', earlier: 'kept' });
    expect(await readTeam(one, BEES.id)).toMatchObject({ record: { instructions: undefined } });
    expect(relay.events().filter(({ kind }) => kind === 44_300)).toHaveLength(2);

    const deaf = memoryRelay({ verdict: ({ kind }) => (kind === 44_300 ? { publication: { status: 'rejected', reason: 'x' }, stored: false } : undefined) });
    await writeTeam(ports(deaf), { ...BEES, instructions: 'old' });
    expect(await saveTeamInstructions(ports(deaf), BEES.id, 'new')).toMatchObject({ status: 'failed', refusal: { code: 'rejected' } });
    expect(await readTeam(ports(deaf), BEES.id)).toMatchObject({ record: { instructions: 'old' } });
  });
});

describe('the older team event', () => {
  it.each([
    ['{"name":"a"}', { status: 'unknown' }], ['{"name":"a","instructions":null}', { status: 'cleared' }], ['{"name":"a","instructions":""}', { status: 'text', text: '' }],
  ])('%s says of its instructions %j', (content, instructions) => {
    expect(readTeamEvent(event(30_176, content))).toMatchObject({ ok: true, team: { id: 'Bees', instructions, definitionIds: [], agents: [] } });
  });

  it('names definitions and agents', () => {
    const content = JSON.stringify({ name: 'a', description: 'd', persona_ids: ['bee', 'builtin:x'], agent_pubkeys: [agent], more: 1 });
    expect(readTeamEvent(event(30_176, content))).toMatchObject({ ok: true, team: { description: 'd', definitionIds: ['bee', 'builtin:x'], agents: [agent] } });
  });

  it.each([['{}', [['d', 'Bees']], 30_176, 'content'], ['{"name":"a"}', [], 30_176, 'envelope'], ['{"name":"a"}', [['d', 'a b']], 30_176, 'envelope'], ['{"name":"a"}', [['d', 'a']], 30_178, 'envelope']])(
    '%s with %j of kind %d is none', (content, tags, kind, code) => {
      expect(readTeamEvent(event(kind, content, tags))).toMatchObject({ ok: false, code });
    });
});

describe('a shared team', () => {
  const KEY = createHash('sha256').update('buzz:team-catalog:member-key:v1\0local-7').digest('hex');
  const member = catalogMember('local-7', DEFINITION);
  const catalog: Catalog = { name: 'Bees', description: undefined, instructions: 'Hum.', members: [member] };
  const bodyOf = (one: Catalog) => {
    const written = writeCatalog(one);
    return written.ok ? written.body : `${written.code}: ${written.detail}`;
  };

  it('embeds its members without what is nobody’s business', () => {
    expect(bodyOf(catalog)).toBe(`{"v":1,"name":"Bees","instructions":"Hum.","members":[{"member_key":"${KEY}","display_name":"Bee","system_prompt":"","runtime":"goose","model":"m","provider":"p","name_pool":["A"],"respond_to":"owner-only","parallelism":32,"session_policy":"thread"}]}`);
    expect(bodyOf(catalog)).not.toMatch(/local-7|\/opt|file:|allowlist/);
    expect(bodyOf(catalog)).not.toContain(stranger);
  });

  it('hints at a built-in agent by a hash without the hints', () => {
    const plain = `{"member_key":"${KEY}","display_name":"Bee","system_prompt":""}`;
    const built = catalogMember('local-7', plainDefinition('Bee'), 'bee');
    expect(bodyOf({ name: 'a', members: [built] })).toBe(`{"v":1,"name":"a","members":[${plain.slice(0, -1)},"builtin_slug":"bee","projection_hash":"${createHash('sha256').update(plain).digest('hex')}"}]}`);
    expect(projectionHash(built)).toBe(built.projectionHash);
  });

  it('has the tag while it is shared', () => {
    const make = (isShared: boolean) => catalogTemplate({ id: teamId('builtin-team:welcome'), body: '{}', isShared, createdAt: seconds(1) });
    expect([make(true).kind, make(true).tags, make(false).tags]).toEqual([30_178, [['d', 'builtin-team:welcome'], ['shared', 'true']], [['d', 'builtin-team:welcome']]]);
  });

  it.each<[string, Partial<Catalog>, string]>([
    ['no name', { name: '' }, 'catalog: name'], ['a nameless member', { members: [{ ...member, displayName: ' ' }] }, 'catalog: member'],
    ['a long avatar', { members: [{ ...member, avatarUrl: `https://${'x'.repeat(32_761)}` }] }, 'catalog: member "Bee": avatar_url: expected at most 32768 bytes'],
    ['65 names', { members: [{ ...member, namePool: Array.from({ length: 65 }, () => 'a') }] }, 'catalog: member "Bee": name_pool: expected at most 64 names, found 65'],
    ['a long model', { members: [{ ...member, model: 'é'.repeat(129) }] }, 'catalog: member "Bee": model: expected at most 256 bytes'],
    ['a lone surrogate', { instructions: '\ud800' }, 'catalog: catalog: expected well-formed text'],
    ['too much', { instructions: 'x'.repeat(CATALOG_MAX_BYTES) }, 'size: catalog: expected at most 196608 bytes'],
  ])('is not written with %s', (_, more, expected) => {
    expect(bodyOf({ ...catalog, ...more }).slice(0, expected.length)).toBe(expected);
  });

  it('may speak of surrogates, and is warned of what looks like a key', () => {
    expect(bodyOf({ ...catalog, instructions: 'write \\ud800' })).toContain('write \\\\ud800');
    const secret = 'sk-abcdefghijklmnop';
    const written = writeCatalog({ ...catalog, members: [{ ...member, systemPrompt: secret }] });
    expect(written).toMatchObject({ ok: true, warnings: [{ path: 'members[0].system_prompt', sort: 'a key or token' }] });
  });

  it('comes back as it was written', () => {
    expect(readCatalog(event(30_178, bodyOf(catalog), [['d', 'Bees'], ['shared', 'true']]))).toEqual({ ok: true, id: 'Bees', catalog, isShared: true });
  });

  it.each([
    ['another form', '{"v":2,"name":"a","members":[]}', 'content'], ['no members', '{"v":1,"name":"a"}', 'content'], ['a member that is none', '{"v":1,"name":"a","members":[null]}', 'content'],
    ['a member without a key', '{"v":1,"name":"a","members":[{"display_name":"b"}]}', 'content'],
    ['an allowlist', `{"v":1,"name":"a","members":[{"member_key":"${KEY}","display_name":"b","respond_to":"allowlist"}]}`, 'content'],
    ['33 at once', `{"v":1,"name":"a","members":[{"member_key":"${KEY}","display_name":"b","parallelism":33}]}`, 'content'],
    ['an environment', '{"v":1,"name":"a","members":[],"env_vars":{}}', 'secret'],
  ])('is none with %s', (_, content, code) => {
    expect(readCatalog(event(30_178, content))).toMatchObject({ ok: false, code });
  });

  it.each([[[]], [[['d']]], [[['d'], ['d', 'a']]], [[['d', 'a'], ['d', 'a']]], [[['d', 'x'.repeat(65)]]], [[['d', 'a\u0000']]]])('is none at %j', (tags) => {
    expect(readCatalog(event(30_178, bodyOf(catalog), tags))).toMatchObject({ ok: false, code: 'envelope' });
  });

  it('is adopted under ids of one’s own, and selects no program here', () => {
    const hinted = { ...member, builtinSlug: 'bee', projectionHash: '0'.repeat(64) };
    const { team, definitions } = adoptTeam({ ...catalog, members: [hinted, member] }, teamId('new-id'), new Set(['bee']));
    expect(team).toEqual({ status: 'live', id: 'new-id', name: 'Bees', description: undefined, instructions: 'Hum.', definitions: ['bee-2', 'bee-3'], agents: [] });
    expect(definitions.map(({ slug, definition }) => [slug, definition.acpCommand, definition.respondTo, definition.respondToAllowlist])).toEqual([
      ['bee-2', 'buzz-acp', 'owner-only', []], ['bee-3', 'buzz-acp', 'owner-only', []],
    ]);
  });
});

describe('what lies at an address', () => {
  const address = { kind: 30_178, author: owner, d: 'Bees' };
  const make = (isShared: boolean) => (createdAt: ReturnType<typeof seconds>) => catalogTemplate({ id: BEES.id, body: '{}', isShared, createdAt });

  it('is shared, unshared, deleted and there again, whatever the clocks say', async () => {
    const relay = memoryRelay();
    const [ahead, behind] = [ports(relay, () => 2_000), ports(relay, () => 1_000)];
    const tags = () => headAt(address, relay.events())?.tags.map(([name]) => name).join();
    for (const [act, expected] of [
      [() => publishAt(ahead, address, make(true)), 'd,shared'], [() => publishAt(behind, address, make(false)), 'd'], [() => deleteAt(behind, address), undefined],
      [() => publishAt(behind, address, make(true)), 'd,shared'],
    ] as const) {
      expect(await act()).toMatchObject({ ok: true });
      expect(tags()).toBe(expected);
    }
  });

  it('is not written over what was not seen, also where that came while the signer took its time', async () => {
    const relay = memoryRelay();
    const one = ports(relay);
    const first = await publishAt(one, address, make(false), 'none');
    if (!first.ok) return expect.fail(first.code);
    expect(await publishAt(one, address, make(true), 'none')).toEqual({ ok: false, code: 'unseen', detail: `head: expected none, found ${first.event.id}` });
    const slow = { ...one, key: { ...one.key, sign: async (template: EventTemplate) => { await publishAt(one, address, make(true)); return one.key.sign(template); } } };
    expect(await publishAt(slow, address, make(false), first.event.id)).toMatchObject({ ok: false, code: 'unseen' });
    expect(headAt(address, relay.events())?.tags).toHaveLength(2);
    expect(await publishAt(slow, address, make(false))).toMatchObject({ ok: true });
  });

  it('is not told as written where another one is in its place', async () => {
    const rival = signed(make(true)(seconds(2_000_000_000)));
    const relay = memoryRelay({ verdict: () => {
      relay.put(rival);
      return { publication: { status: 'accepted' }, stored: false };
    } });
    const outcome = await publishAt(ports(relay), address, make(false), 'none');
    expect(outcome).toEqual({ ok: false, code: 'overtaken', detail: `event ${relay.published[0]?.id ?? ''} was sent, and ${rival.id}, written elsewhere, is in its place` });
  });

  it.each([
    ['unavailable', { isComplete: () => false }], ['unknown', { verdict: () => ({ publication: { status: 'unknown', reason: 'x' } as const, stored: true }) }],
    ['rejected', { verdict: () => ({ publication: { status: 'rejected', reason: 'x' } as const, stored: false }) }],
  ])('is told as %s', async (code, faults) => {
    const relay = memoryRelay(faults);
    const one = ports(relay);
    const outcomes = [await publishAt(one, address, make(true)), await deleteAt(one, address)];
    expect(outcomes).toMatchObject([{ ok: false, code }, { ok: false, code }]);
    // What is not known may be there, and is named.
    if (code === 'unknown') expect(outcomes).toMatchObject(relay.published.map(({ id }) => ({ detail: `the relay gave no verdict on event ${id}, which may be there: x` })));
  });
});
