import { describe, expect, it } from 'vitest';
import { readJson } from '../../../src/broker/wire/json.ts';
import type { JsonReading } from '../../../src/broker/wire/json.ts';
import { bytesOf } from './samples.ts';

const LIMITS = { maxBytes: 4_000_000, maxDepth: 8 };

function read(text: string): JsonReading {
  return readJson(bytesOf(text), LIMITS);
}

function flawOf(text: string): string | undefined {
  const reading = read(text);
  return reading.ok ? reading.flaw : expect.fail(reading.detail);
}

describe('readJson', () => {
  it.each([
    '{}', '[]', '""', '0', '-0', '1.5e+10', 'true', 'false', ' \t\r\n[ 1 , 2 ]\n', '{"a":{"b":[]},"":1}',
    '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041"', '"\\ud83d\\udc1d"', '"\u007f\u2028"',
  ])('takes %j, without a flaw', (text) => {
    expect(flawOf(text)).toBeUndefined();
  });

  it.each([
    '', ' ', '{', '[', '"', '{"a"', '{"a":', '{"a":1', '{"a":1,', '{"a":1,}', '[1,]', '[,1]', '{,}', '[1 2]',
    '{"a" 1}', "{'a':1}", '{a:1}', '[1}', '{"a":1]', '1 2', '{} x', 'nul', 'True', 'NaN', 'Infinity', '+1', '.5', '1.',
    '1e', '1e+', '01', '-', '-01', '0x1', '1_0', '"\\x41"', '"\\u12"', '"\\u12g4"', '"\n"', '"\u001f"',
    '\u000b1', '1\u000c', '"\\', '/* */1', '\ufeff{}', '\u00a0{}', '{}\u0000',
  ])('refuses %j as no JSON', (text) => {
    const reading = read(text);
    expect(reading.ok ? 'JSON' : reading.detail).toMatch(/^body: found .*, expected /);
  });

  it.each([
    ['a byte order mark', [0xef, 0xbb, 0xbf, 0x7b, 0x7d]],
    ['a lone continuation byte', [0x22, 0x80, 0x22]],
    ['an overlong slash', [0x22, 0xc0, 0xaf, 0x22]],
    ['an overlong NUL', [0x22, 0xe0, 0x80, 0x80, 0x22]],
    ['an encoded surrogate', [0x22, 0xed, 0xa0, 0xbd, 0x22]],
    ['a surrogate pair in CESU-8', [0x22, 0xed, 0xa0, 0xbd, 0xed, 0xb0, 0x9d, 0x22]],
    ['a code point past U+10FFFF', [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22]],
    ['a sequence cut short', [0x22, 0xf0, 0x9f, 0x90, 0x22]],
    ['UTF-16', [...Buffer.from('{"a":1}', 'utf16le')]],
    ['UTF-16 with its mark', [0xff, 0xfe, ...Buffer.from('{}', 'utf16le')]],
    ['UTF-32', [0, 0, 0, 0x7b, 0, 0, 0, 0x7d]],
  ])('refuses %s', (_name, bytes) => {
    expect(readJson(Uint8Array.from(bytes), LIMITS).ok).toBe(false);
    // The control: the decoder is as good as new after an error.
    const good = readJson(bytesOf('"é🐝"'), LIMITS);
    expect(good).toMatchObject({ ok: true, value: { text: 'é🐝' }, flaw: undefined });
  });

  it.each([
    ['null', 'body: found null'],
    ['{"a":null}', 'a: found null'],
    ['{"a":[1,{"b":null}]}', 'a[1].b: found null'],
    ['{"a":1,"a":1}', 'a: found the member twice'],
    ['{"a":1,"\\u0061":2}', 'a: found the member twice'],
    ['{"o":{"x":[{"k":1,"k":2}]}}', 'o.x[0].k: found the member twice'],
    ['{"__proto__":1,"__proto__":2}', '__proto__: found the member twice'],
    ['"\\ud83d"', 'body: found an unpaired surrogate'],
    ['["\\udc1d\\ud83d"]', '[0]: found an unpaired surrogate'],
    ['{"\\ud800":1}', 'found an unpaired surrogate'],
    ['[[[[[[[[[1]]]]]]]]]', 'found nesting beyond 8'],
    [`{"a":[[[[[[[{"b":1,"b":null}]]]]]]]}`, 'found nesting beyond 8'],
  ])('keeps the tree of %s and notes what is wrong', (text, flaw) => {
    expect(flawOf(text)).toContain(flaw);
  });

  it('takes nesting up to the limit', () => {
    expect(flawOf('[[[[[[[[1]]]]]]]]')).toBeUndefined();
    expect(flawOf('[[[[[[[[[]]]]]]]]]')).toContain('nesting');
  });

  it('keeps the first value of a repeated name, and members named like those of Object.prototype', () => {
    const reading = read('{"a":1,"a":2,"__proto__":3,"constructor":4}');
    const top = reading.ok && reading.value.type === 'object' ? reading.value : expect.fail('no object');
    expect(top.members.get('a')).toEqual({ type: 'number', lexeme: '1' });
    expect([...top.members.keys()]).toEqual(['a', '__proto__', 'constructor']);
    expect(top.repeated).toEqual(['a']);
  });

  it('keeps numbers as they were written', () => {
    for (const lexeme of ['18446744073709551616', '-0', '1.0', '1E5', '9'.repeat(1_000)]) {
      expect(read(lexeme)).toMatchObject({ ok: true, value: { type: 'number', lexeme } });
    }
  });

  it('counts bytes, not characters, against the size limit', () => {
    const body = bytesOf('"éé"');
    expect(readJson(body, { maxBytes: 6, maxDepth: 8 }).ok).toBe(true);
    expect(readJson(body, { maxBytes: 5, maxDepth: 8 })).toEqual({
      ok: false,
      detail: 'body: found 6 bytes, expected at most 5',
    });
  });
});
