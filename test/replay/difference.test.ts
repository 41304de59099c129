/** Where two texts differ: the first byte, as the bytes themselves say, and a diff that leads from one to the other. */
import { applyPatch } from 'diff';
import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { firstDifference, unifiedDiff } from '../../src/replay/difference.ts';

/** Texts that share beginnings, with scalars of every length. */
const texts = fc.array(fc.constantFrom('a', 'b', '\n', 'é', 'è', '失', '夲', '🙂', '🙃'), { maxLength: 12 }).map((scalars) => scalars.join(''));

test('the first difference is where the bytes first differ', () => {
  fc.assert(fc.property(texts, texts, (one, other) => {
    fc.pre(one !== other);
    const [a, b] = [Buffer.from(one), Buffer.from(other)];
    let offset = 0;
    while (offset < a.length && a[offset] === b[offset]) offset += 1;
    const first = firstDifference(one, other);
    expect(first.offset).toBe(offset);
    expect(first.recorded.byte).toBe(a[offset]?.toString(16).padStart(2, '0'));
    expect(first.now.byte).toBe(b[offset]?.toString(16).padStart(2, '0'));
    const before = one.split('\n').slice(0, first.line - 1);
    expect(other.split('\n').slice(0, first.line - 1)).toEqual(before);
    const [line, otherLine] = [one, other].map((text) => Array.from(text.split('\n')[first.line - 1] ?? ''));
    expect(otherLine?.slice(0, first.column - 1)).toEqual(line?.slice(0, first.column - 1));
  }));
});

describe('the first difference', () => {
  it.each([
    ['ab', 'ac', { offset: 1, line: 1, column: 2, recorded: { scalar: 'b', byte: '62' }, now: { scalar: 'c', byte: '63' } }],
    ['a', 'a\n', { offset: 1, line: 1, column: 2, recorded: {}, now: { scalar: '\n', byte: '0a' } }],
    ['x\n🙂a', 'x\n🙃a', { offset: 5, line: 2, column: 1, recorded: { scalar: '🙂', byte: '82' }, now: { scalar: '🙃', byte: '83' } }],
    // Two that no bytes tell apart: the scalars do.
    ['\ud83d', '\ufffd', { offset: 3, line: 1, column: 1, recorded: { scalar: '\ud83d' }, now: { scalar: '\ufffd' } }],
  ])('of %j and %j', (one, other, first) => {
    expect(firstDifference(one, other)).toEqual(first);
  });
});

test('the diff leads from one to the other', () => {
  fc.assert(fc.property(texts, texts, (one, other) => {
    const diff = unifiedDiff(one, other);
    expect(diff.length === 0).toBe(one === other);
    if (one !== other) expect(applyPatch(`${one}\n`, ['--- recorded', '+++ now', ...diff, ''].join('\n'))).toBe(`${other}\n`);
  }));
});

test('the diff of texts that have nothing in common is all of both, soon', () => {
  const many = (word: string) => Array.from({ length: 5_000 }, (_, index) => `${word} ${index}`).join('\n');
  const diff = unifiedDiff(many('old'), many('new'));
  expect(diff.filter((line) => line.startsWith('-'))).toHaveLength(5_000);
  expect(diff.filter((line) => line.startsWith('+'))).toHaveLength(5_000);
});
