import { expect, it } from 'vitest';
import { eventId } from '../../src/model/index.ts';
import { newestFirst, oldestFirst } from '../../src/nostr/index.ts';

it('puts the lower id first in one second, whichever way the seconds go', () => {
  const at = (id: string, createdAt: number): { readonly id: ReturnType<typeof eventId>; readonly created_at: number } =>
    ({ id: eventId(id.repeat(64)), created_at: createdAt });
  const events = [at('b', 2), at('c', 1), at('a', 2), at('d', 3)];
  const names = (sorted: readonly { readonly id: string }[]): string => sorted.map(({ id }) => id[0]).join('');
  expect([names([...events].sort(newestFirst)), names([...events].sort(oldestFirst))]).toEqual(['dabc', 'cabd']);
});
