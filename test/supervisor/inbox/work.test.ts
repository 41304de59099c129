/**
 * How much work a step of the inbox is where much waits, counted and not timed: elements that are read from a map or a
 * list, or put into a map, whichever code does it. Each message is a lane of its own, as at the top of a channel under the
 * thread policy, and every channel is full.
 */
import { describe, expect, it } from 'vitest';
import { channelId, eventId } from '../../../src/model/index.ts';
import { MAX_PENDING } from '../../../src/supervisor/inbox/entry.ts';
import type { Entry } from '../../../src/supervisor/inbox/entry.ts';
import { stepInbox } from '../../../src/supervisor/inbox/machine.ts';
import type { Ending, InboxInput, InboxStep } from '../../../src/supervisor/inbox/machine.ts';
import { nextReadyAt } from '../../../src/supervisor/inbox/ready.ts';
import { emptyInbox, heldEvents, inboxCounts, oldestWaiting } from '../../../src/supervisor/inbox/state.ts';
import type { InboxState } from '../../../src/supervisor/inbox/state.ts';
import { entryOf, message, ms } from '../people.ts';

const AT = ms(1_000_000);
const DONE: Ending = { how: 'done', outcome: 'end_turn' };
const ANY = message();

function entry(index: number): Entry {
  const id = eventId(index.toString(16).padStart(64, '0'));
  const here = channelId(`00000000-0000-4000-8000-${Math.floor(index / MAX_PENDING).toString(16).padStart(12, '0')}`);
  return entryOf(ANY, index, { eventId: id, destination: id, channelId: here, lane: `${here}/${id}` });
}

/** Elements that pass while `act` runs. What is fast because nobody looks is counted too: a copied map, a spread list. */
function workOf(act: () => unknown): number {
  let count = 0;
  const iterators = [new Map().entries(), [].values()].map((one): object => Object.getPrototypeOf(one) as object);
  const restore = [...iterators.map((owner) => [owner, 'next'] as const), [Map.prototype, 'set'] as const].map(([owner, name]) => {
    const original = Object.getOwnPropertyDescriptor(owner, name);
    if (original === undefined) throw new TypeError(`nothing to count: ${name}`);
    const counted = function (this: unknown, ...args: readonly unknown[]): unknown {
      count += 1;
      return Reflect.apply(original.value as (...given: readonly unknown[]) => unknown, this, args);
    };
    Object.defineProperty(owner, name, { ...original, value: counted });
    return () => { Object.defineProperty(owner, name, original); };
  });
  try {
    act();
  } finally {
    for (let index = 0; index < restore.length; index += 1) restore[index]?.();
  }
  return count;
}

function step(state: InboxState, input: InboxInput): InboxStep {
  return stepInbox(state, input, AT);
}

const left = (size: number): Extract<InboxInput, { readonly type: 'restored' }> =>
  ({ type: 'restored', queued: Array.from({ length: size }, (_, index) => entry(index)), stranded: [], answered: new Set() });

const EMPTY = emptyInbox({ gatherMs: 200 });
/** Channels are full: 500 in each. */
const SIZES = [2_500, 5_000, 10_000] as const;
const FULL = SIZES.map((size) => step(EMPTY, left(size)).state);

const inTurn = (state: InboxState): InboxState => step(state, { type: 'take', turnId: 't' }).state;
const FLYING = FULL.map(inTurn);

/** In a channel that has all that it may: the oldest goes. */
const comes = { type: 'accepted', entry: { ...entry(SIZES[2]), channelId: entry(0).channelId, lane: `${entry(0).channelId}/new` } } as const;

describe('what waits in other channels is no work', () => {
  it.each<readonly [string, (state: InboxState) => unknown]>([
    ['for a message that comes', (state) => step(state, comes)],
    ['for the end of a turn', (state) => step(state, { type: 'finished', turnId: 't', ending: DONE, jitter: 0 })],
    ['for the end of a turn that is over', (state) => step(state, { type: 'finished', turnId: 'earlier', ending: DONE, jitter: 0 })],
    ['for a channel that is left', (state) => step(state, { type: 'left', channelId: entry(0).channelId })],
    ['for a turn that is cancelled', (state) => step(state, { type: 'cancelled', channelId: entry(0).channelId, outcome: 'no' })],
    ['for what history must not show', (state) => heldEvents(state, entry(0).channelId)],
    ['for how much waits', (state) => inboxCounts(state)],
  ])('%s', (_, act) => {
    const [one = Number.NaN, , four = Number.NaN] = FLYING.map((state) => workOf(() => act(state)));
    // Fifteen channels more: the map of them is made anew twice in a step at most, which reads and puts each.
    expect(four - one).toBeLessThanOrEqual(4 * (SIZES[2] - SIZES[0]) / MAX_PENDING);
    expect(one).toBeGreaterThan(0);
  });
});

describe('twice as much that waits is twice the work at most', () => {
  it.each<readonly [string, (state: InboxState, size: number) => unknown]>([
    ['for a start', (_, size) => step(EMPTY, left(size))],
    ['for the next turn', (state) => step(state, { type: 'take', turnId: 'u' })],
    ['for when the next turn is ready', (state) => nextReadyAt(state)],
    ['for the oldest that waits', (state) => oldestWaiting(state)],
  ])('%s', (_, act) => {
    const [one = Number.NaN, two = Number.NaN, four = Number.NaN] = FULL.map((state, index) => workOf(() => act(state, SIZES[index] ?? 0)));
    expect(two).toBeGreaterThan(one);
    // The second step is twice the first, and four times where something is done for each with all.
    expect((four - two) / (two - one)).toBeLessThan(2.1);
  });

  it('is, for a start, a few looks at each message', () => {
    expect(workOf(() => step(EMPTY, left(SIZES[2]))) / SIZES[2]).toBeLessThan(20);
  });

  it('counts what is copied: the control', () => {
    const map = new Map(Array.from({ length: 1_000 }, (_, index) => [index, index]));
    expect(workOf(() => new Map(map))).toBeGreaterThan(1_999);
    expect(workOf(() => [...map.values()])).toBeGreaterThan(999);
  });
});
