import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { isBlank, quote, scalarCount, shown, trimWhiteSpace, utf8Bytes } from '../../../src/broker/wire/text.ts';

describe('trimWhiteSpace', () => {
  it('trims exactly the characters of Unicode White_Space', () => {
    for (let code = 0; code <= 0x10ffff; code += 1) {
      if (code >= 0xd800 && code <= 0xdfff) continue;
      const scalar = String.fromCodePoint(code);
      const isSpace = /^\p{White_Space}$/u.test(scalar);
      if (trimWhiteSpace(`${scalar}x${scalar}`) === 'x' !== isSpace) expect.fail(`U+${code.toString(16)}`);
    }
  });

  it('differs from JavaScript where Unicode does', () => {
    expect(trimWhiteSpace('\u0085a\u0085')).toBe('a');
    expect(trimWhiteSpace('\ufeffa')).toBe('\ufeffa');
    expect(trimWhiteSpace(' a b ')).toBe('a b');
    expect(isBlank(' \u3000\u2029')).toBe(true);
    expect(isBlank('\u200b')).toBe(false);
  });
});

describe('measures', () => {
  it('count scalars, bytes and the compact encoding', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(scalarCount(text)).toBe(Array.from(text).length);
        expect(utf8Bytes(text)).toBe(new TextEncoder().encode(text).length);
      }),
    );
  });

  it('quote as the compact encoding does', () => {
    expect(quote('"\\/\b\t\n\f\r\u0000\u001f\u007f\u0085é\u2028🐝')).toBe(
      '"\\"\\\\/\\b\\t\\n\\f\\r\\u0000\\u001f\u007f\u0085é\u2028🐝"',
    );
    expect(() => quote('\ud800')).toThrow(TypeError);
  });

  it.each(Array.from({ length: 0x100 }, (_, code) => String.fromCharCode(code)))('quote %j alone as JSON does', (character) => {
    expect(quote(`a${character}b`)).toBe(JSON.stringify(`a${character}b`));
  });
});

describe('shown', () => {
  it('tells what may be a key by its length alone', () => {
    expect(shown('a\nb')).toBe('a\\u{a}b');
    expect(shown('a'.repeat(32))).toBe('a'.repeat(32));
    expect(shown('0123456789abcdef'.repeat(4))).toBe('<64 characters>');
  });
});
