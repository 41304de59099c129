/** The faults that `npm run mutate` plants: each still has its place in the source. Whether it is caught, that tells. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { FAULTS } from '../../scripts/compiler-faults.ts';
import { plant } from '../../scripts/plant.ts';

test.each(FAULTS)('$name: its text stands in $file once', ({ file, find, replace }) => {
  const source = readFileSync(new URL(`../../compiler/${file}`, import.meta.url), 'utf8');
  const planted = plant(source, { find, replace });
  expect(planted).toMatchObject({ ok: true });
  expect(planted).not.toMatchObject({ source });
});

test('every fault has a name of its own', () => {
  expect(new Set(FAULTS.map(({ name }) => name)).size).toBe(FAULTS.length);
  expect(FAULTS.length).toBeGreaterThan(100);
});

describe('a fault whose text', () => {
  test.each([
    ['is gone', 'b', 0],
    ['stands twice', 'aa', 2],
  ])('%s does not apply', (_, source, times) => {
    expect(plant(source, { find: 'a', replace: '$&' })).toEqual({
      ok: false,
      why: `does not apply: its text is found ${String(times)} times`,
    });
  });

  test('holds a pattern of replacement is planted as it is', () => {
    expect(plant('xay', { find: 'a', replace: '$&' })).toEqual({ ok: true, source: 'x$&y' });
  });
});
