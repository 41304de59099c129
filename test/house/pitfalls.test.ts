/** Every kind of fault in `pitfalls.ts` has its tests, under the very names. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from './imports.ts';
import { PITFALLS } from './pitfalls.ts';

/** The text of a title as it may stand in its file: whole, in quotes of any sort. */
function holds(source: string, title: string): boolean {
  const plain = source.replaceAll("\\'", "'");
  return ["'", '"', '`'].some((quote) => plain.includes(`${quote}${title}`)) || plain.includes(`${title}'`) || plain.includes(`${title}"`);
}

describe.each(PITFALLS)('$section: $fault', ({ tests }) => {
  it.each(tests)('%s: %s', (file, title) => {
    expect(existsSync(join(ROOT, file)), file).toBe(true);
    expect(holds(readFileSync(join(ROOT, file), 'utf8'), title)).toBe(true);
  });
});

it('has each fault once, and none without a test', () => {
  expect(new Set(PITFALLS.map(({ section, fault }) => `${section} ${fault}`)).size).toBe(PITFALLS.length);
  expect(PITFALLS.filter(({ tests }) => tests.length === 0)).toEqual([]);
  expect(new Set(PITFALLS.map(({ section }) => section)).size).toBe(6);
});

it('a title that is nowhere is missed', () => {
  expect(holds("it('is there', () => {})", 'is there')).toBe(true);
  expect(holds("it('is there', () => {})", 'is not there')).toBe(false);
});
