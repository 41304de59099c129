/** Definitions: written and read back, heads, stamps, the catalog's transport, secrets. NIP-AP "Content body" to "Deletion". */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventId, seconds } from '../../src/model/index.ts';
import type { UnverifiedEvent } from '../../src/nostr/index.ts';
import {
  addressText, DEFINITION_MAX_BYTES, definitionHash, definitionTemplate, deletionOf, headAt, headsOf, isPersonaSlug, nextStamp, plainDefinition,
  readDefinition, readDefinitionBody, readForeignDefinition, slugFrom, freeSlug, writeDefinition,
} from '../../src/persona/index.ts';
import type { Definition } from '../../src/persona/index.ts';
import { agent, owner, stranger } from './people.ts';

const PLAIN = plainDefinition('Test Agent');
const FULL: Definition = {
  displayName: 'Full', systemPrompt: '', acpCommand: 'buzz-x-acp', avatarUrl: 'https://e.example/a.png', runtime: 'goose', model: 'm', provider: 'p',
  namePool: ['A'], respondTo: 'allowlist', respondToAllowlist: [stranger], parallelism: 3, description: 'd', sessionPolicy: 'thread',
};

function written(definition: Definition, isShared = false): string {
  const writing = writeDefinition(definition, isShared);
  return writing.ok ? writing.body : `${writing.code}: ${writing.detail}`;
}

function event(content: string, tags: UnverifiedEvent['tags'] = [['d', 'test']], more: Partial<UnverifiedEvent> = {}): UnverifiedEvent {
  return { id: eventId('0'.repeat(64)), pubkey: owner, created_at: seconds(1), kind: 30_175, tags, content, sig: '0'.repeat(128), ...more };
}

describe('slugs', () => {
  it.each([
    ['a', true], ['0', true], ['a_b-c', true], ['a'.repeat(64), true], ['', false], ['a'.repeat(65), false], ['-a', false], ['_a', false],
    ['A', false], ['a/b', false], ['a:b', false], ['a b', false], ['é', false], ['a\n', false],
  ])('%j: %s', (slug, expected) => {
    expect(isPersonaSlug(slug)).toBe(expected);
  });

  it.each([
    ['My Agent!', 'my-agent-'], ['builtin:fizz', 'builtin-fizz'], ['_x', 'a_x'], ['', 'a'], ['Ünïq', 'a-n-q'], ['😀b', 'a-b'], ['x'.repeat(90), 'x'.repeat(64)],
  ])('of the record %j is %s', (id, slug) => {
    expect(slugFrom(id)).toBe(slug);
  });

  it('of any record is one, and a free one is free', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (id) => {
      const slug = slugFrom(id);
      const free = freeSlug(slug, new Set([slug, slugFrom(`${slug}-2`), `${slug.slice(0, 62)}-2`]));
      expect([isPersonaSlug(slug), isPersonaSlug(free), free === slug]).toEqual([true, true, false]);
    }));
  });
});

describe('a body', () => {
  it('has its members in order and no more than it says', () => {
    expect(written(PLAIN)).toBe('{"display_name":"Test Agent"}');
    expect(written(FULL)).toBe(`{"display_name":"Full","system_prompt":"","acp_command":"buzz-x-acp","avatar_url":"https://e.example/a.png","runtime":"goose","model":"m","provider":"p","name_pool":["A"],"respond_to":"allowlist","respond_to_allowlist":["${stranger}"],"parallelism":3,"description":"d","session_policy":"thread"}`);
  });

  it.each([
    ['undefined', undefined, '{"display_name":"Test Agent"}', '{"display_name":"Test Agent","acp_command":"buzz-acp"}'],
    ['portable', 'buzz-x-acp', '{"display_name":"Test Agent","acp_command":"buzz-x-acp"}', '{"display_name":"Test Agent","acp_command":"buzz-x-acp"}'],
    ['a path', '/opt/acp', '{"display_name":"Test Agent","acp_command":"/opt/acp"}', '{"display_name":"Test Agent"}'],
  ])('for a catalog says another transport: %s', (_, acpCommand, own, catalog) => {
    const definition = { ...PLAIN, systemPrompt: undefined, acpCommand };
    expect([written(definition), written(definition, true)]).toEqual([own, catalog]);
  });

  it.each([
    ['left out', undefined, true, undefined], ['left out, and it was no catalog', undefined, false, 'buzz-acp'], ['stock', 'buzz-acp', true, 'buzz-acp'],
  ])('for a catalog over a head whose transport is %s', (_, found, isShared, expected) => {
    const writing = writeDefinition(PLAIN, true, { found, isShared });
    expect(writing.ok && (JSON.parse(writing.body) as { readonly acp_command?: string }).acp_command).toBe(expected);
  });

  it.each<[string, Partial<Definition>, string]>([
    ['no name', { displayName: ' ' }, 'definition: display_name'],
    ['a lone surrogate', { systemPrompt: 'a\ud800' }, 'definition: definition: expected well-formed'],
    ['a lone surrogate in a pool', { namePool: ['\udc00'] }, 'definition: definition: expected well-formed'],
    ['parallelism 0', { parallelism: 0 }, 'definition: parallelism: expected an integer 1..4294967295, found 0'],
    ['parallelism 2^32', { parallelism: 2 ** 32 }, 'definition: parallelism'],
    ['parallelism 1.5', { parallelism: 1.5 }, 'definition: parallelism'],
    ['parallelism NaN', { parallelism: NaN }, 'definition: parallelism'],
    ['an empty command', { acpCommand: '' }, 'definition: acp_command'],
    ['281 characters of description', { description: '😀'.repeat(281) }, 'definition: description: expected at most 280 characters, found 281'],
    ['a byte too many', { systemPrompt: 'x'.repeat(DEFINITION_MAX_BYTES - 47) }, 'size: definition: expected at most 65535 bytes, found 65536'],
  ])('is not written with %s', (_, more, expected) => {
    expect(written({ ...PLAIN, ...more }).slice(0, expected.length)).toBe(expected);
  });

  it('is as large as it may be', () => {
    expect(written({ ...PLAIN, systemPrompt: 'x'.repeat(DEFINITION_MAX_BYTES - 48) })).toHaveLength(DEFINITION_MAX_BYTES);
    expect(written({ ...PLAIN, description: '😀'.repeat(280) })).toMatch(/^\{/);
  });

  it('comes back as it was written, whatever it says', () => {
    const text = fc.string({ unit: 'binary', minLength: 1 }).filter((one) => one.isWellFormed());
    const definition = fc.record<Definition>({
      displayName: text.filter((one) => one.trim() !== ''),
      systemPrompt: fc.option(fc.oneof(text, fc.constant('')), { nil: undefined }),
      acpCommand: fc.option(text, { nil: undefined }), avatarUrl: fc.option(text, { nil: undefined }), runtime: fc.option(text, { nil: undefined }),
      model: fc.option(text, { nil: undefined }), provider: fc.option(text, { nil: undefined }), namePool: fc.array(text),
      respondTo: fc.constantFrom('anyone', 'owner-only', 'allowlist', undefined), respondToAllowlist: fc.subarray([owner, stranger]),
      parallelism: fc.option(fc.integer({ min: 1, max: 99 }), { nil: undefined }), description: fc.option(text, { nil: undefined }),
      sessionPolicy: fc.constantFrom('channel', 'thread'),
    });
    fc.assert(fc.property(definition, (one) => {
      expect(readDefinitionBody(written(one))).toEqual({ ok: true, definition: one });
    }));
  });
});

describe('a reader', () => {
  const read = (content: string): unknown => {
    const reading = readDefinition(event(content));
    return reading.ok ? reading.definition : `${reading.code}: ${reading.detail}`;
  };

  it.each([
    ['absent members', '{"display_name":"Test Agent"}'],
    ['null members', '{"display_name":"Test Agent","system_prompt":null,"acp_command":null,"name_pool":null,"respond_to":null,"respond_to_allowlist":null,"parallelism":null,"session_policy":null,"description":null}'],
    ['strangers', ' {"more":{"display_name":1},"display_name":"Test Agent","__proto__":{"model":"x"},"toString":1}'],
  ])('takes %s as nothing', (_, content) => {
    expect(read(content)).toEqual(PLAIN);
  });

  it.each([
    ['no name', '{}', 'content: display_name: expected a nonempty text'],
    ['a null name', '{"display_name":null}', 'content: display_name: expected a nonempty text'],
    ['an empty name', '{"display_name":""}', 'content: display_name: expected a nonempty text, found ""'],
    ['a number for a name', '{"display_name":7}', 'content: display_name: expected a nonempty text, found 7'],
    ['two names', '{"display_name":"a","display_n\\u0061me":"b"}', 'content: display_name: expected it once'],
    ['a list for a prompt', '{"display_name":"a","system_prompt":[]}', 'content: system_prompt: expected well-formed text'],
    ['a lone surrogate', '{"display_name":"a","model":"\\ud800"}', 'content: model: expected well-formed text, found "�"'],
    ['a pool with a number', '{"display_name":"a","name_pool":["x",1]}', 'content: name_pool: expected a list, each well-formed text'],
    ['an unknown policy', '{"display_name":"a","respond_to":"all"}', 'content: respond_to: expected anyone or owner-only or allowlist, found "all"'],
    ['an npub in the list', '{"display_name":"a","respond_to_allowlist":["npub1x"]}', 'content: respond_to_allowlist: expected a list, each 64 lowercase hex characters'],
    ['capitals in the list', `{"display_name":"a","respond_to_allowlist":["${'A'.repeat(64)}"]}`, 'content: respond_to_allowlist'],
    ['text for a number', '{"display_name":"a","parallelism":"5"}', 'content: parallelism: expected an integer 1..4294967295, found "5"'],
    ['0', '{"display_name":"a","parallelism":0}', 'content: parallelism: expected an integer 1..4294967295, found 0'],
    ['another boundary', '{"display_name":"a","session_policy":"user"}', 'content: session_policy: expected channel or thread, found "user"'],
    ['an nsec in the wrong place', `{"display_name":"a","respond_to":"nsec1${'q'.repeat(20)}"}`, 'content: respond_to: expected anyone or owner-only or allowlist, found "<redacted>"'],
    ['a list', '[]', 'content: content: expected a JSON object'],
    ['a byte order mark', '\ufeff{"display_name":"a"}', 'content: content: expected a JSON object'],
    ['no JSON', '{"display_name":"a"', 'content: content: expected a JSON object'],
    ['nothing', '', 'content: content: expected a JSON object'],
    ['too much', `{"display_name":"${'a'.repeat(DEFINITION_MAX_BYTES)}"}`, 'content: content: expected at most 65535 bytes'],
  ])('refuses %s', (_, content, expected) => {
    expect(String(read(content)).slice(0, expected.length)).toBe(expected);
  });

  it.each<[string, UnverifiedEvent['tags'], Partial<UnverifiedEvent>, string]>([
    ['no d', [], {}, 'envelope'], ['two d', [['d', 'a'], ['d', 'a']], {}, 'envelope'], ['a bare d beside it', [['d'], ['d', 'a']], {}, 'envelope'],
    ['no slug', [['d', 'A']], {}, 'envelope'], ['another kind', [['d', 'a']], { kind: 30_174 }, 'envelope'],
  ])('refuses an envelope with %s', (_, tags, more, expected) => {
    expect(readDefinition(event('{"display_name":"a"}', tags, more))).toMatchObject({ ok: false, code: expected });
  });

  it.each<[string, UnverifiedEvent['tags'], boolean]>([
    ['no tag', [], false], ['the tag', [['shared', 'true']], true], ['an alt beside it', [['alt', 'x'], ['shared', 'true']], true],
    ['a third element', [['shared', 'true', 'x']], false], ['false', [['shared', 'false']], false], ['no value', [['shared']], false],
    ['twice', [['shared', 'true'], ['shared', 'true']], false],
  ])('takes as shared what has %s: %3$s', (_, more, expected) => {
    expect(readDefinition(event('{"display_name":"a"}', [['d', 'a'], ...more]))).toMatchObject({ ok: true, isShared: expected });
  });
});

describe('another owner’s catalog', () => {
  const foreign = (command: string | null | undefined, tags: UnverifiedEvent['tags'] = [['d', 'a'], ['shared', 'true']]): unknown => {
    const reading = readForeignDefinition(event(JSON.stringify({ display_name: 'a', acp_command: command }), tags));
    return reading.ok ? reading.definition.acpCommand : reading.code;
  };

  it.each([
    [undefined, 'buzz-acp'], [null, 'buzz-acp'], ['buzz-acp', 'buzz-acp'], ['buzz-my_own-acp', 'buzz-my_own-acp'], ['', 'transport'],
    ['/usr/bin/acp', 'transport'], ['buzz--acp', 'transport'], ['buzz-a b-acp', 'transport'], ['BUZZ-x-acp', 'transport'],
    [`buzz-${'x'.repeat(246)}-acp`, `buzz-${'x'.repeat(246)}-acp`], [`buzz-${'x'.repeat(247)}-acp`, 'transport'], ['buzz-é-acp', 'transport'],
    ['buzz-x-acp\n', 'transport'],
  ])('command %j: %s', (command, expected) => {
    expect(foreign(command)).toBe(expected);
  });

  it('is read only where it is shared', () => {
    expect(foreign('buzz-acp', [['d', 'a']])).toBe('not_shared');
  });
});

describe('secrets', () => {
  it.each([
    ['{"display_name":"a","env_vars":{"K":"v"}}'], ['{"display_name":"a","env_v\\u0061rs":null}'], ['{"display_name":"a","x":[{"y":{"env_vars":[]}}]}'],
    [`{"display_name":"a","x":${'['.repeat(20_000)}{"env_vars":1}${']'.repeat(20_000)}}`],
  ])('env_vars is refused, wherever it stands (%#)', (content) => {
    const reading = readDefinition(event(content));
    expect(reading).toMatchObject({ ok: false, code: 'secret' });
    expect(JSON.stringify(reading)).not.toContain('"v"');
  });

  it.each([
    ['nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5', 'a Nostr secret key'], ['-----BEGIN RSA PRIVATE KEY-----\nx', 'a private key'],
    ['sk-abcdefghijklmnop', 'a key or token'], ['ghp_abcdefghijklmnop', 'a key or token'], ['AKIAIOSFODNN7EXAMPLE', 'a cloud access key'],
    ['https://me:hunter2@example.com', 'a password in an address'], ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0.abc', 'a JSON web token'],
    ['glpat-abcdefghijklmnopqrst', 'an access token'],
  ])('a value that looks like one gives a warning that does not repeat it (%#)', (secret, sort) => {
    const writing = writeDefinition({ ...PLAIN, systemPrompt: `Use ${secret} always.`, namePool: ['ok', secret] }, false);
    if (!writing.ok) return expect.fail(writing.detail);
    expect(writing.warnings).toEqual([{ path: 'system_prompt', sort }, { path: 'name_pool[1]', sort }]);
    expect(JSON.stringify(writing.warnings)).not.toContain(secret);
  });

  it('a definition without one has no warning', () => {
    expect(writeDefinition(FULL, true)).toMatchObject({ ok: true, warnings: [] });
  });
});

describe('heads and stamps', () => {
  const id = (digit: string) => eventId(digit.repeat(64));
  const at = (createdAt: number, digit: string, more: Partial<UnverifiedEvent> = {}) =>
    event('{"display_name":"a"}', [['d', 'a']], { created_at: seconds(createdAt), id: id(digit), ...more });
  const address = { kind: 30_175, author: owner, d: 'a' };

  it('the latest counts, on a tie the lowest id, and strangers do not', () => {
    const events = [at(5, '2'), at(7, 'b'), at(7, 'a'), at(9, '1', { pubkey: stranger }), at(9, '3', { kind: 30_177 }), at(9, '4', { tags: [['d', 'b']] })];
    expect(headAt(address, events)?.id).toBe(id('a'));
    expect(headAt(address, [...events].reverse())?.id).toBe(id('a'));
    expect(headAt(address, [])).toBeUndefined();
    expect([...headsOf(30_175, owner, events)].map(([d, head]) => [d, head.id])).toEqual([['b', id('4')], ['a', id('a')]]);
  });

  it.each([
    ['no head', 100, [], 100], ['an older head', 100, [at(50, '1')], 100], ['a head of this second', 100, [at(100, '1')], 101],
    ['a head of a clock ahead of ours', 100, [at(900, '1')], 901], ['a deletion behind the head', 100, [at(50, '1'), at(120, '2')], 121],
  ])('the next stamp after %s', (_, now, earlier, expected) => {
    expect(nextStamp(seconds(now), earlier)).toBe(expected);
  });

  it('two devices whose clocks differ supersede each other in turn', () => {
    let head = at(1_000, '1');
    for (const [turn, now] of [2_000, 1_160, 2_001, 1_161, 1_162].entries()) {
      const next = at(nextStamp(seconds(now), [head]), String(turn + 2));
      expect(headAt(address, [head, next])?.id).toBe(next.id);
      head = next;
    }
    expect(head.created_at).toBe(2_004);
  });

  it('a deletion reaches the head, and what is written after it is there again', () => {
    const head = at(900, '1');
    const request = deletionOf(address, seconds(100), head);
    expect(request).toEqual({ kind: 5, created_at: 900, tags: [['a', `30175:${owner}:a`], ['k', '30175']], content: '' });
    expect(addressText({ kind: 30_178, author: owner, d: 'builtin-team:welcome' })).toBe(`30178:${owner}:builtin-team:welcome`);
    expect(nextStamp(seconds(101), [request])).toBe(901);
  });

  it('is signed with one d, and with the tag where it is shared', () => {
    const make = (isShared: boolean) => definitionTemplate({ slug: 'a', body: '{}', isShared, createdAt: seconds(1) }).tags;
    expect([make(false), make(true)]).toEqual([[['d', 'a']], [['d', 'a'], ['shared', 'true']]]);
    expect(() => definitionTemplate({ slug: 'A', body: '{}', isShared: false, createdAt: seconds(1) })).toThrow(TypeError);
  });

  it('sharing and describing change nothing that is run', () => {
    const hash = definitionHash({ ...PLAIN, acpCommand: '/opt/acp' });
    expect(definitionHash({ ...PLAIN, acpCommand: '/opt/acp', description: 'new' })).toBe(hash);
    expect(definitionHash(PLAIN)).not.toBe(hash);
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(agent).not.toBe(owner);
  });
});
