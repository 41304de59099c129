import { describe, expect, test } from 'vitest';
import { escapeAttribute, escapeText } from '../../compiler/markup.ts';
import { countScalars, firstScalars, isBlank, trim, trimEnd, trimLineBreaks, wellFormed } from '../../compiler/text.ts';

const range = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, at) => first + at);

// Unicode White_Space, all of it.
const WHITE_SPACE: readonly number[] = [
  ...range(0x09, 0x0d),
  0x20,
  0x85,
  0xa0,
  0x1680,
  ...range(0x2000, 0x200a),
  0x2028,
  0x2029,
  0x202f,
  0x205f,
  0x3000,
];

describe('white space', () => {
  test('is exactly the 25 characters of Unicode White_Space', () => {
    const found = range(0, 0xffff).filter((unit) => trim(String.fromCharCode(unit)) === '');
    expect(found).toEqual(WHITE_SPACE);
  });

  test('differs from JavaScript trim at NEL and at the byte order mark', () => {
    expect(trim('\u0085a\u0085')).toBe('a');
    expect(trim('\ufeffa\ufeff')).toBe('\ufeffa\ufeff');
    expect([isBlank('\u0085 \n'), isBlank('\ufeff'), isBlank(''), isBlank(' a')]).toEqual([true, false, true, false]);
  });

  test.each([
    [trim, '\u3000 a b\n\r', 'a b'],
    [trim, ' \t ', ''],
    [trim, '', ''],
    [trimEnd, ' \n a \u2029', ' \n a'],
    [trimEnd, '  ', ''],
    [trimLineBreaks, '\r\n\n a \n\r', ' a '],
    [trimLineBreaks, '\u2028\n', '\u2028'],
    [trimLineBreaks, '\n\n', ''],
  ])('%o of %j is %j', (cut, text, expected) => {
    expect(cut(text)).toBe(expected);
  });

  test('a long run inside the text costs no more than the run', () => {
    const text = `a${' '.repeat(200_000)}b`;
    expect(trim(text)).toBe(text);
    expect(trimEnd(text)).toBe(text);
  });
});

describe('scalars', () => {
  test.each([
    ['', 0],
    ['abc', 3],
    ['é', 1],
    ['e\u0301', 2],
    ['日本', 2],
    ['😀', 1],
    ['a😀b𝒳', 4],
    ['😀'.repeat(1000), 1000],
    ['\ufffd\uffff', 2],
  ])('%j holds %i', (text, count) => {
    expect(countScalars(text)).toBe(count);
    expect(countScalars(text)).toBe(Array.from(text).length);
  });

  test.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'abc'],
    ['ab😀', 3, 'ab😀'],
    ['ab😀c', 3, 'ab😀'],
    ['😀😀😀😀', 3, '😀😀😀'],
    ['', 3, ''],
    ['a', 0, ''],
  ])('of %j the first %i are %j', (text, max, expected) => {
    expect(firstScalars(text, max)).toBe(expected);
  });
});

test.each([
  ['a\ud83d', 'a\ufffd'],
  ['\ude00a', '\ufffda'],
  ['\ude00\ud83d', '\ufffd\ufffd'],
  ['\ud83d\ude00', '😀'],
  ['e\u0301', 'e\u0301'],
  ['\u212b', '\u212b'],
])('%j made well-formed is %j', (text, expected) => {
  expect(wellFormed(text)).toBe(expected);
});

test.each([
  ['a & b < c > d', 'a &amp; b &lt; c &gt; d', 'a &amp; b &lt; c &gt; d'],
  ['&lt;', '&amp;lt;', '&amp;lt;'],
  ['&&', '&amp;&amp;', '&amp;&amp;'],
  [`"it's"`, `"it's"`, '&quot;it&apos;s&quot;'],
  ['a\nb\rc\td\r\ne', 'a\nb\rc\td\r\ne', 'a b c d  e'],
  ['$& $1 $$', '$&amp; $1 $$', '$&amp; $1 $$'],
  ['a\u0085b\u2028c', 'a\u0085b\u2028c', 'a\u0085b\u2028c'],
  ['plain', 'plain', 'plain'],
])('%j is %j as text and %j in an attribute', (text, asText, asAttribute) => {
  expect(escapeText(text)).toBe(asText);
  expect(escapeAttribute(text)).toBe(asAttribute);
});
