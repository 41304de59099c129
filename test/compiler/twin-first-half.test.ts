import { expect, test } from 'vitest';
import { agree, TURNS } from './agreement.ts';

let unmet: readonly string[] = ['everything'];

test(`the compiler and its plain twin agree on ${TURNS} hostile turns, the first half`, { timeout: 600_000 }, () => {
  unmet = agree(TURNS, 0);
});

test('among them every case of the rules', () => {
  expect(unmet).toEqual([]);
});
