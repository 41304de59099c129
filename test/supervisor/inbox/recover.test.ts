import { expect, it } from 'vitest';
import { MAX_ATTEMPTS } from '../../../src/supervisor/inbox/entry.ts';
import { recover } from '../../../src/supervisor/inbox/recover.ts';
import { entryOf, message } from '../people.ts';

const entry = entryOf(message(), 0);

it('brings a turn that was cut short back as interrupted, and counts it', () => {
  const { entries, saves } = recover([{ turnId: 't', entry }], new Set());
  expect(entries).toEqual([{ ...entry, attempts: 1, interrupted: true }]);
  expect(saves).toMatchObject([{ change: 'queued' }]);
});

it('does not ask again what was answered', () => {
  const { entries, saves } = recover([{ turnId: 't', entry }], new Set(['t']));
  expect(entries).toEqual([]);
  expect(saves).toMatchObject([{ change: 'done', eventId: entry.eventId }]);
});

it('gives up a message that ends the supervisor each time', () => {
  const { entries, saves } = recover([{ turnId: 't', entry: { ...entry, attempts: MAX_ATTEMPTS } }], new Set());
  expect(entries).toEqual([]);
  expect(saves).toMatchObject([{ change: 'dead' }]);
});
