import { test } from 'vitest';
import { agree, TURNS } from './agreement.ts';

test(`the compiler and its plain twin agree on ${TURNS} hostile turns, the first half`, { timeout: 600_000 }, () => {
  agree(TURNS);
});
