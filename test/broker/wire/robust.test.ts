/** Whatever the bytes are, reading ends, soon, with a value. */
import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { parseResult, readRequest } from '../../../src/broker/wire/index.ts';
import { readJson } from '../../../src/broker/wire/json.ts';
import { runs } from '../../setup/runs.ts';
import { bytesOf, requestOf } from './samples.ts';

const LIMITS = { maxBytes: 16_000_000, maxDepth: 8 };
const TEXT = JSON.stringify(requestOf('storage.get', { slug: 'core' }));

/** Bodies of about `size` bytes that are slow or deep for a careless reader. */
const BAD: readonly (readonly [string, (size: number) => string])[] = [
  ['open arrays', (size) => '['.repeat(size)],
  ['closed arrays', (size) => '['.repeat(size / 2) + ']'.repeat(size / 2)],
  ['nested objects', (size) => '{"a":'.repeat(size / 6) + '1' + '}'.repeat(size / 6)],
  ['nested pairs', (size) => '[{"a":'.repeat(size / 8) + '1' + '}]'.repeat(size / 8)],
  ['one long number', (size) => '9'.repeat(size)],
  ['one long fraction', (size) => `1.${'9'.repeat(size)}`],
  ['one long exponent', (size) => `1e${'9'.repeat(size)}`],
  ['one long string', (size) => `"${'a'.repeat(size)}"`],
  ['one long open string', (size) => `"${'a'.repeat(size)}`],
  ['escapes', (size) => `"${'\\u0041'.repeat(size / 6)}"`],
  ['backslashes', (size) => `"${'\\\\'.repeat(size / 2)}"`],
  ['half surrogates', (size) => `["${'\\ud800'.repeat(size / 6)}"]`],
  ['white space', (size) => ' '.repeat(size)],
  ['many items', (size) => `[${'1,'.repeat(size / 2)}1]`],
  ['one name over and over', (size) => `{${'"a":1,'.repeat(size / 6)}"a":1}`],
  ['many names', (size) => `{${Array.from({ length: size / 12 }, (_, at) => `"${at + 1e6}":1`).join(',')}}`],
  ['many nulls', (size) => `[${'null,'.repeat(size / 5)}null]`],
];

describe('hostile bodies', () => {
  // Linear reading takes some 20 ms. One look back over the body for each of its tokens would take minutes.
  it.each(BAD)('%s: the largest body ends in a value, within ten seconds', (_name, make) => {
    for (const body of [make(500_000), TEXT.replace('"core"', make(500_000))]) {
      const bytes = bytesOf(body);
      const start = performance.now();
      expect(typeof readJson(bytes, LIMITS).ok).toBe('boolean');
      expect(performance.now() - start).toBeLessThan(10_000);
      expect(readRequest(bytes, LIMITS).ok).toBe(false);
      expect(parseResult(bytes, LIMITS).ok).toBe(false);
    }
  });

  it('keeps the request id of a body that nests without end', () => {
    const deep = TEXT.replace('"core"', '['.repeat(200_000) + ']'.repeat(200_000));
    expect(readRequest(bytesOf(deep))).toMatchObject({ ok: false, requestId: 'r-1', code: 'invalid_request' });
  });

  it('reads an integer member of any length without converting it', () => {
    for (const lexeme of ['9'.repeat(400_000), `1e${'9'.repeat(400_000)}`, `0.${'0'.repeat(400_000)}1`]) {
      const body = TEXT.replace('"actionVersion":1', `"actionVersion":${lexeme}`);
      expect(readRequest(bytesOf(body))).toMatchObject({ requestId: 'r-1', code: 'invalid_request' });
    }
  });
});

describe('random bodies', () => {
  const total = (bytes: Uint8Array): void => {
    const request = readRequest(bytes);
    if (!request.ok) expect(request.detail).toMatch(/: found [^]*, expected /);
    const result = parseResult(bytes);
    if (!result.ok) expect(result.detail).toMatch(/: found [^]*, expected /);
  };

  it('of bytes are read to a value', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), total), { numRuns: runs(2_000) });
  });

  it('of JSON are read to a value, and as JSON.parse reads them', () => {
    const json = fc.jsonValue({ maxDepth: 12, stringUnit: 'binary' });
    fc.assert(
      fc.property(json, (value) => {
        const text = JSON.stringify(value);
        total(bytesOf(text));
        expect(readJson(bytesOf(text), LIMITS).ok).toBe(true);
      }),
      { numRuns: runs(1_000) },
    );
  });

  it('of the characters of JSON are JSON exactly when JSON.parse says so', () => {
    const piece = fc.constantFrom(
      '{', '}', '[', ']', ',', ':', '"', '"a"', '0', '1', '-', '.', 'e', '+', 'true', 'null', ' ', '\n',
      '\\', '\\u0041',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        let parses = true;
        try {
          JSON.parse(text);
        } catch {
          parses = false;
        }
        expect(readJson(bytesOf(text), LIMITS).ok).toBe(parses);
      }),
      { numRuns: runs(4_000) },
    );
  });
});
