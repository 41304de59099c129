/** NIP-AE against the public reference vectors, and every body that is none. */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readJson } from '../../src/broker/wire/json.ts';
import { pubkey, seconds } from '../../src/model/index.ts';
import {
  conversationKey, ENGRAM_KIND, ENGRAM_MAX_BYTES, engramAddress, engramBody, isEngramSlug, jsonMembers, openText,
  readEngramBody, sealText, signEvent,
} from '../../src/nostr/index.ts';

interface Vectors {
  readonly seckey_a: string;
  readonly pubkey_o: string;
  readonly conversation_key: string;
  readonly d: Readonly<Record<string, string>>;
  readonly events: readonly {
    readonly slug: string; readonly body: string; readonly created_at: number; readonly nonce: string;
    readonly content_sha256: string; readonly id: string; readonly sig: string;
  }[];
}

const V = JSON.parse(readFileSync(new URL('vectors/engrams.json', import.meta.url), 'utf8')) as Vectors;
const SECRET = new Uint8Array(Buffer.from(V.seckey_a, 'hex'));
const KEY = conversationKey(SECRET, pubkey(V.pubkey_o)) ?? expect.fail('no key');

function bodyOf(slug: string, value: string | null): string {
  return value === null ? JSON.stringify({ slug, value }) : engramBody(slug, value);
}

/** The value, `tombstone`, or `invalid`. */
function read(body: string, slug: string): string {
  const reading = readEngramBody(body, (found) => found === slug);
  if (!reading.ok) return 'invalid';
  return reading.value === undefined ? 'tombstone' : `value ${reading.value}`;
}

describe('the reference vectors', () => {
  it('conversation key and addresses', () => {
    expect(Buffer.from(KEY).toString('hex')).toBe(V.conversation_key);
    expect(Object.fromEntries(Object.keys(V.d).map((slug) => [slug, engramAddress(KEY, slug)]))).toEqual(V.d);
  });

  it.each(V.events.map((event) => [event.body, event] as const))('%s', (body, event) => {
    const sealing = sealText(body, KEY, new Uint8Array(Buffer.from(event.nonce, 'hex')));
    if (!sealing.ok) return expect.fail(sealing.detail);
    expect(hash('sha256', sealing.payload, 'hex')).toBe(event.content_sha256);
    const tags = [['d', engramAddress(KEY, event.slug)], ['p', V.pubkey_o]];
    const signed = signEvent(
      { kind: ENGRAM_KIND, created_at: seconds(event.created_at), tags, content: sealing.payload }, SECRET, new Uint8Array(32),
    );
    expect([signed.id, signed.sig]).toEqual([event.id, event.sig]);
    expect(openText(signed.content, KEY)).toEqual({ ok: true, plaintext: body });
    const { value, profile } = JSON.parse(body) as { readonly value?: string | null; readonly profile?: string };
    expect(read(body, event.slug)).toBe(value === null ? 'tombstone' : `value ${value ?? profile ?? ''}`);
    expect(bodyOf(event.slug, value === undefined ? (profile ?? '') : value)).toBe(body);
  });
});

describe('a body', () => {
  it('is written with the members and escapes that its size is measured by', () => {
    const value = '"\\\b\t\n\f\r\u0000\u001f/\u007fé😀\u2028';
    expect(engramBody('mem/a', value)).toBe('{"slug":"mem/a","value":"\\"\\\\\\b\\t\\n\\f\\r\\u0000\\u001f/\u007fé😀\u2028"}');
    expect(engramBody('core', 'x')).toBe('{"slug":"core","profile":"x"}');
    expect(() => engramBody('core', '\ud800')).toThrow(TypeError);
  });

  it.each([
    ['an empty value is a value', '{"slug":"mem/a","value":""}', 'value '],
    ['white space and another order', ' { "value" : "v" , "slug" : "mem/a" } ', 'value v'],
    ['members that are not known', '{"slug":"mem/a","value":"v","profile":1,"more":[{"value":null}]}', 'value v'],
    ['escapes in a name', '{"sl\\u0075g":"mem/a","value":"v"}', 'value v'],
    ['a value twice', '{"slug":"mem/a","value":"v","value":"v"}', 'invalid'],
    ['a value twice, once escaped', '{"slug":"mem/a","value":"v","v\\u0061lue":"w"}', 'invalid'],
    ['a stranger twice, deep inside', '{"slug":"mem/a","value":"v","x":[{"y":{"z":1,"z":2}}]}', 'invalid'],
    ['the same name in two objects', '{"slug":"mem/a","value":"v","x":{"y":1},"z":{"y":2}}', 'value v'],
    ['another slug', '{"slug":"mem/b","value":"v"}', 'invalid'],
    ['a slug that is none', '{"slug":"mem/A","value":"v"}', 'invalid'],
    ['no slug', '{"value":"v"}', 'invalid'],
    ['no value', '{"slug":"mem/a"}', 'invalid'],
    ['a profile for a value', '{"slug":"mem/a","profile":"v"}', 'invalid'],
    ['a number', '{"slug":"mem/a","value":1}', 'invalid'],
    ['an unpaired surrogate', '{"slug":"mem/a","value":"\\ud800"}', 'invalid'],
    ['a list', '["mem/a","v"]', 'invalid'],
    ['null', 'null', 'invalid'],
    ['no JSON', '{"slug":"mem/a","value":"v"', 'invalid'],
    ['nothing', '', 'invalid'],
    ['as large as it may be', engramBody('mem/a', 'x'.repeat(ENGRAM_MAX_BYTES - 27)), `value ${'x'.repeat(ENGRAM_MAX_BYTES - 27)}`],
    ['a byte larger', engramBody('mem/a', 'x'.repeat(ENGRAM_MAX_BYTES - 26)), 'invalid'],
  ])('%s', (_, body, expected) => {
    expect(read(body, 'mem/a') === expected).toBe(true);
  });

  it.each([
    ['a profile', '{"slug":"core","profile":"p"}', 'value p'],
    ['a value for a profile', '{"slug":"core","value":"p"}', 'invalid'],
    ['no tombstone', '{"slug":"core","profile":null}', 'invalid'],
  ])('of core: %s', (_, body, expected) => {
    expect(read(body, 'core')).toBe(expected);
  });

  it('comes back as it was written, whatever the text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed()), (value) => {
      expect(read(engramBody('mem/a', value), 'mem/a')).toBe(`value ${value}`);
    }));
  });
});

it.each([
  ['core', true], ['mem/a', true], ['mem/a/b_c-9', true], [`mem/${'a'.repeat(64)}`, true],
  ['', false], ['mem', false], ['mem/', false], ['mem//a', false], ['mem/-a', false], ['mem/a/', false], ['cores', false],
  [`mem/${'a'.repeat(65)}`, false], [`mem${'/aaaaaaaaa'.repeat(25)}/a`, true], [`mem${'/aaaaaaaaa'.repeat(25)}/aa`, false],
  ['mem/a\n', false],
])('slug %s', (slug, expected) => {
  expect(isEngramSlug(slug)).toBe(expected);
});

describe('members of a JSON text', () => {
  it('are what they were, to the byte', () => {
    expect(jsonMembers(' { "2" : 1e400 ,"a":[1, {"b":"},"}],"\\"" : "\\\\" , "__proto__":null } ')?.members).toEqual([
      { name: '2', raw: '1e400' }, { name: 'a', raw: '[1, {"b":"},"}]' }, { name: '"', raw: '"\\\\"' }, { name: '__proto__', raw: 'null' },
    ]);
    expect([jsonMembers('{}'), jsonMembers('[]'), jsonMembers('"a"'), jsonMembers('{')]).toEqual([
      { members: [], repeats: false }, undefined, undefined, undefined,
    ]);
  });

  it('agree with the wire’s reader, and with JSON.parse', () => {
    const name = fc.constantFrom('a', 'b', '"', '\\', '\u0000', 'é', '__proto__');
    const tree = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 3 }, fc.string(), fc.integer(), fc.boolean(), fc.constant(null), tie('list'), tie('object')),
      list: fc.array(tie('value'), { maxLength: 3 }),
      object: fc.array(fc.tuple(name, tie('value')), { maxLength: 4 }).map((entries) => new Map(entries.map((entry, at) => [at, entry]))),
    }));
    fc.assert(fc.property(tree.object, fc.constantFrom('', ' ', '\n\t'), (value, space) => {
      const text = written(value, space);
      const found = jsonMembers(text) ?? expect.fail('no object');
      const reading = readJson(Buffer.from(text), { maxBytes: 1_000_000, maxDepth: 50 });
      expect(found.repeats).toBe(reading.ok && /twice/.test(flaws(text)));
      expect(Object.fromEntries(found.members.map(({ name: key, raw }) => [key, JSON.parse(raw)]))).toEqual(
        Object.fromEntries(Object.entries(JSON.parse(text) as object)),
      );
    }));
  });

  /** The first flaw that the wire's reader finds, once null is none. */
  function flaws(text: string): string {
    const reading = readJson(Buffer.from(text.replaceAll('null', '0')), { maxBytes: 1_000_000, maxDepth: 50 });
    return reading.ok ? (reading.flaw ?? '') : expect.fail(reading.detail);
  }

  /** Maps are objects, by place, so that a name can be written twice. */
  function written(value: unknown, space: string): string {
    if (value instanceof Map) {
      const entries = [...(value.values() as Iterable<readonly [string, unknown]>)];
      return `${space}{${entries.map(([key, one]) => `${space}${JSON.stringify(key)}${space}:${written(one, space)}`).join(',')}}${space}`;
    }
    if (Array.isArray(value)) return `[${value.map((one) => written(one, space)).join(`${space},`)}${space}]`;
    return JSON.stringify(value);
  }
});
