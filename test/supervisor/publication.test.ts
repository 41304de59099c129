import { expect, it, vi } from 'vitest';
import { decidedPublication } from '../../src/supervisor/publication.ts';
import { fakeLink } from './fake-link.ts';
import { HandClock } from './hand-clock.ts';
import { channel, someRoot } from './people.ts';

const TURN = { turnId: 't', channelId: channel };
const unknown = { events: [], undecided: true };

it('asks until it is known', async () => {
  const link = fakeLink();
  link.publications.splice(0, 1, unknown, unknown, { events: [someRoot], undecided: false });
  const clock = new HandClock();
  const decided = decidedPublication(link, TURN, clock, new AbortController().signal);
  for (let round = 0; round < 2; round += 1) {
    await vi.waitFor(() => { expect(clock.armed).toBe(1); });
    clock.push(2_000);
  }
  expect(await decided).toEqual([someRoot]);
  expect(clock.armed).toBe(0);
});

it('takes one message that is there for the answer, whatever becomes of another', async () => {
  const link = fakeLink();
  link.publications.splice(0, 1, { events: [someRoot], undecided: true });
  expect(await decidedPublication(link, TURN, new HandClock(), new AbortController().signal)).toEqual([someRoot]);
});

it('gives no answer when the supervisor stops before it is known', async () => {
  const link = fakeLink();
  link.publications.splice(0, 1, unknown);
  const clock = new HandClock();
  const stopping = new AbortController();
  const decided = decidedPublication(link, TURN, clock, stopping.signal);
  await vi.waitFor(() => { expect(clock.armed).toBe(1); });
  stopping.abort();
  expect(await decided).toBeUndefined();
  expect(clock.armed).toBe(0);
});
