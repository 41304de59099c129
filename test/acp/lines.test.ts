import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lineSplitter } from '../../src/acp/lines.ts';

function split(
  chunks: readonly (string | Buffer)[],
  maxBytes = 100,
): { readonly lines: string[]; readonly tooLong: number } {
  const lines: string[] = [];
  let tooLong = 0;
  const splitter = lineSplitter({ maxBytes, onLine: (text) => lines.push(text), onTooLong: () => (tooLong += 1) });
  for (const chunk of chunks) splitter.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  splitter.end();
  return { lines, tooLong };
}

/** The slow twin: everything at once, as text. */
function plainly(bytes: Buffer): string[] {
  const lines = bytes.toString('utf8').split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line, index) => (index === 0 ? line.replace(/^\ufeff/, '') : line).replace(/\r$/, ''));
}

describe('lines of stdout', () => {
  it.each([
    ['a line', ['a\n'], ['a']],
    ['lines in one chunk', ['a\nb\n\nc\n'], ['a', 'b', '', 'c']],
    ['a line in three chunks', ['a', 'b', 'c\n'], ['abc']],
    ['CRLF', ['a\r\nb\r\n'], ['a', 'b']],
    ['a CR and its LF in two chunks', ['a\r', '\nb\n'], ['a', 'b']],
    ['a CR inside a line stays', ['a\rb\n'], ['a\rb']],
    ['a BOM at the start of the stream', ['\ufeffa\n\ufeffb\n'], ['a', '\ufeffb']],
    ['U+2028 and U+0085 end no line', ['a\u2028b\u0085c\n'], ['a\u2028b\u0085c']],
    ['the end of the stream ends a line', ['a\nb'], ['a', 'b']],
    ['nothing', [''], []],
  ])('%s', (_, chunks, expected) => {
    expect(split(chunks).lines).toEqual(expected);
  });

  it('splits no character, though each byte comes alone', () => {
    const bytes = [...Buffer.from('\ufeff🐝 zum Bänkchen 👩🏽‍🚀\r\n')].map((byte) => Buffer.of(byte));
    expect(split(bytes).lines).toEqual(['🐝 zum Bänkchen 👩🏽‍🚀']);
  });

  it('keeps little more of a line than its bytes, though each comes alone', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const lines: string[] = [];
    const splitter = lineSplitter({ maxBytes: 1_000_000, onLine: (text) => lines.push(text), onTooLong: () => undefined });
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let n = 0; n < 400_000; n += 1) splitter.push(Buffer.of(0x61));
    collect();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(10_000_000);
    splitter.push(Buffer.of(0x0a));
    expect(lines).toEqual(['a'.repeat(400_000)]);
  });

  it('agrees with its slow twin, however the bytes are cut', () => {
    const piece = fc.constantFrom('a', '\n', '\r\n', '\r', '🐝', 'ä', '\u2028', '\ufeff', '{}', '');
    fc.assert(
      fc.property(fc.array(piece), fc.array(fc.nat(12)), (pieces, cuts) => {
        const bytes = Buffer.from(pieces.join(''));
        const chunks: Buffer[] = [];
        let from = 0;
        for (const cut of cuts) {
          chunks.push(bytes.subarray(from, from + cut));
          from = Math.min(from + cut, bytes.length);
        }
        chunks.push(bytes.subarray(from));
        expect(split(chunks, 1_000).lines).toEqual(plainly(bytes));
      }),
    );
  });

  it.each([
    ['exactly the limit', ['x'.repeat(10), '\n'], 10, ['x'.repeat(10)], 0],
    ['one byte more, in one chunk', ['a\n', `${'x'.repeat(11)}\nb\n`], 10, ['a'], 1],
    ['one byte more, in its last chunk', ['x'.repeat(10), 'x\nb\n'], 10, [], 1],
    ['without end', ['x'.repeat(6), 'x'.repeat(6), 'x'.repeat(6), '\nb\n'], 10, [], 1],
  ])('a line of %s', (_, chunks, maxBytes, lines, tooLong) => {
    expect(split(chunks, maxBytes)).toEqual({ lines, tooLong });
  });
});
