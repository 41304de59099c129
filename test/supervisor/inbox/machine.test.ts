import { describe, expect, it } from 'vitest';
import { stepInbox } from '../../../src/supervisor/inbox/machine.ts';
import type { Ending, InboxCommand, InboxInput, InboxStep } from '../../../src/supervisor/inbox/machine.ts';
import { nextReadyAt } from '../../../src/supervisor/inbox/ready.ts';
import { emptyInbox, heldEvents, inboxCounts } from '../../../src/supervisor/inbox/state.ts';
import type { InboxState } from '../../../src/supervisor/inbox/state.ts';
import { MAX_ATTEMPTS, MAX_BATCH, MAX_PENDING } from '../../../src/supervisor/inbox/entry.ts';
import type { Batch, Entry } from '../../../src/supervisor/inbox/entry.ts';
import { channel, entryOf, friend, inThread, message, ms, otherChannel, owner, someRoot } from '../people.ts';

const GATHER_MS = 200;

/** Steps through inputs and keeps what was commanded. */
class Bench {
  state: InboxState = emptyInbox({ gatherMs: GATHER_MS });
  commands: readonly InboxCommand[] = [];

  give(input: InboxInput, at = 0): this {
    const step = stepInbox(this.state, input, ms(at));
    this.state = step.state;
    this.commands = step.commands;
    return this;
  }

  accept(...entries: readonly Entry[]): this {
    for (const entry of entries) this.give({ type: 'accepted', entry });
    return this;
  }

  take(turnId: string, at: number): Batch | undefined {
    this.give({ type: 'take', turnId }, at);
    return this.commands.flatMap((command) => (command.type === 'dispatch' ? [command.batch] : []))[0];
  }

  finish(turnId: string, ending: Ending, at = 0): this {
    return this.give({ type: 'finished', turnId, ending, jitter: 0.5 }, at);
  }

  saves(): readonly string[] {
    return this.commands.flatMap((command) => (command.type === 'save' ? [command.save.change] : []));
  }
}

const DONE: Ending = { how: 'done', outcome: 'end_turn' };
const FAILED: Ending = { how: 'again', reason: 'it broke', interrupted: true, cause: 'failure' };

function ids(batch: Batch | undefined): readonly string[] | undefined {
  return batch?.entries.map((entry) => entry.eventId);
}

describe('coalescing', () => {
  it('makes one turn of contiguous messages by one author in one thread', () => {
    const events = [1, 2, 3].map(() => message({ tags: inThread(someRoot) }));
    const bench = new Bench().accept(...events.map((event, index) => entryOf(event, index)));
    expect(ids(bench.take('t', 1_000))).toEqual(events.map((event) => event.id));
  });

  it('splits where someone else spoke in between', () => {
    const mine = [1, 2, 3].map(() => message({ tags: inThread(someRoot) }));
    const theirs = message({ by: friend, tags: inThread(someRoot) });
    const [one, two, three] = mine.map((event, index) => entryOf(event, index * 10));
    const bench = new Bench().accept(one as Entry, two as Entry, entryOf(theirs, 15), three as Entry);
    const turns = ['a', 'b', 'c'].map((turnId) => {
      const batch = bench.take(turnId, 5_000);
      bench.finish(turnId, DONE);
      return ids(batch);
    });
    expect(turns).toEqual([[mine[0]?.id, mine[1]?.id], [theirs.id], [mine[2]?.id]]);
  });

  it('lets a turn that was cut short come back by itself: what is new beside it is the next turn', () => {
    const [cut, fresh] = [message({ tags: inThread(someRoot) }), message({ tags: inThread(someRoot) })];
    const bench = new Bench().accept(entryOf(cut, 0, { interrupted: true, attempts: 1 }), entryOf(fresh, 1));
    expect(ids(bench.take('a', 5_000))).toEqual([cut.id]);
    bench.finish('a', DONE);
    expect(ids(bench.take('b', 5_000))).toEqual([fresh.id]);
  });

  it('keeps top-level messages apart: each is its own destination', () => {
    const events = [message(), message()];
    const bench = new Bench().accept(...events.map((event, index) => entryOf(event, index)));
    expect(ids(bench.take('t', 10))).toEqual([events[0]?.id]);
  });

  it('orders a turn by created_at and takes at most 50', () => {
    const late = message({ at: 1_700_000_009, tags: inThread(someRoot) });
    const early = message({ at: 1_700_000_001, tags: inThread(someRoot) });
    const bench = new Bench().accept(entryOf(late, 0), entryOf(early, 1));
    expect(ids(bench.take('t', 5_000))).toEqual([early.id, late.id]);
    const many = Array.from({ length: MAX_BATCH + 1 }, (_, index) => entryOf(message({ tags: inThread(someRoot) }), index));
    expect(new Bench().accept(...many).take('t', 100)?.entries).toHaveLength(MAX_BATCH);
  });
});

describe('gathering', () => {
  const first = entryOf(message({ tags: inThread(someRoot) }), 1_000);
  const second = entryOf(message({ tags: inThread(someRoot) }), 1_150);

  it('waits in a thread until nobody has written for a while, and says until when', () => {
    const bench = new Bench().accept(first, second);
    expect(bench.take('t', 1_349)).toBeUndefined();
    expect(nextReadyAt(bench.state)).toBe(1_350);
    expect(ids(bench.take('t', 1_350))).toHaveLength(2);
  });

  it('does not wait for a thread that never falls silent', () => {
    const chatter = Array.from({ length: 20 }, (_, index) => entryOf(message({ tags: inThread(someRoot) }), 1_000 + index * 100));
    const bench = new Bench().accept(...chatter);
    expect(nextReadyAt(bench.state)).toBe(2_000);
  });

  it('does not wait at the top of a channel, nor when somebody else has spoken since', () => {
    expect(new Bench().accept(entryOf(message(), 1_000)).take('t', 1_000)).toBeDefined();
    const other = entryOf(message({ by: friend, tags: inThread(someRoot) }), 1_001);
    expect(new Bench().accept(first, other).take('t', 1_001)?.entries).toHaveLength(1);
  });
});

describe('lanes', () => {
  it('runs one turn at a time in a lane and the oldest first across lanes', () => {
    const there = { channelId: otherChannel, lane: otherChannel };
    const bench = new Bench().accept(entryOf(message(), 5), entryOf(message(), 6), entryOf(message(), 2, there));
    expect(bench.take('a', 10)?.lane).toBe(otherChannel);
    expect(bench.take('b', 10)?.lane).toBe(channel);
    expect(bench.take('c', 10)).toBeUndefined();
    expect(bench.finish('b', DONE).take('c', 10)?.lane).toBe(channel);
  });
});

describe('each input in each status', () => {
  const event = message();
  const entry = entryOf(event, 0);

  it('accepted: inserts once, whether the entry waits or is in a turn', () => {
    const bench = new Bench().accept(entry);
    expect(bench.saves()).toEqual(['insert']);
    expect(bench.accept(entry).saves()).toEqual([]);
    bench.take('t', 0);
    expect(bench.accept(entry).saves()).toEqual([]);
    expect(inboxCounts(bench.state)).toEqual({ queued: 0, dispatched: 1 });
  });

  it('take: marks as dispatched before it dispatches', () => {
    const bench = new Bench().accept(entry);
    bench.take('t', 0);
    expect(bench.commands.map((command) => command.type)).toEqual(['save', 'dispatch']);
    expect(bench.saves()).toEqual(['dispatched']);
  });

  it('finished: done ends it, an unknown turn changes nothing', () => {
    const bench = new Bench().accept(entry);
    bench.take('t', 0);
    expect(bench.finish('another', DONE).commands).toEqual([]);
    expect(bench.finish('t', DONE).saves()).toEqual(['done']);
    expect(bench.state.channels.size).toBe(0);
    expect(bench.finish('t', DONE).commands).toEqual([]);
  });

  it('finished: a dead turn is told in its thread', () => {
    const bench = new Bench().accept(entry);
    bench.take('t', 0);
    bench.finish('t', { how: 'dead', reason: 'no' });
    expect(bench.commands.map((command) => command.type)).toEqual(['save', 'give_up']);
  });

  it('left: what waits in the channel is dead, its turn is cut short and dead whatever it comes to; others stay', () => {
    const elsewhere = entryOf(message(), 1, { channelId: otherChannel, lane: otherChannel });
    const bench = new Bench().accept(entry, entryOf(message(), 2), elsewhere);
    bench.take('t', 0);
    bench.give({ type: 'left', channelId: channel });
    expect(bench.saves()).toEqual(['dead', 'dead']);
    expect(bench.commands.at(-1)).toEqual({ type: 'cut_short', turnId: 't', gently: false });
    expect(bench.give({ type: 'left', channelId: channel }).commands).toEqual([]);
    expect(inboxCounts(bench.state)).toEqual({ queued: 1, dispatched: 1 });
    bench.finish('t', FAILED);
    expect(bench.commands).toEqual([]);
    expect(inboxCounts(bench.state)).toEqual({ queued: 1, dispatched: 0 });
  });

  it('cancelled: its turn is done from now on and cut short, whatever it comes to; what waits, and other channels, stay', () => {
    const elsewhere = entryOf(message(), 1, { channelId: otherChannel, lane: otherChannel });
    const bench = new Bench().accept(entry, entryOf(message(), 2), elsewhere);
    bench.take('t', 0);
    bench.take('u', 0);
    bench.give({ type: 'cancelled', channelId: channel, outcome: 'no more' });
    expect(bench.commands).toEqual([
      { type: 'save', save: { change: 'done', eventId: event.id, outcome: 'no more' } }, { type: 'cut_short', turnId: 't', gently: true },
    ]);
    expect(bench.give({ type: 'cancelled', channelId: channel, outcome: 'no more' }).commands).toEqual([]);
    expect(bench.take('v', 10_000)).toBeUndefined();
    expect(bench.finish('t', FAILED).commands).toEqual([]);
    expect(inboxCounts(bench.state)).toEqual({ queued: 1, dispatched: 1 });
    expect(bench.take('v', 10_000)).toBeDefined();
  });

  it('cancelled: nothing, where no turn is under way', () => {
    const bench = new Bench().accept(entry);
    expect(bench.give({ type: 'cancelled', channelId: channel, outcome: 'no more' }).commands).toEqual([]);
    expect(inboxCounts(bench.state)).toEqual({ queued: 1, dispatched: 0 });
  });

  it('commanded: a row that is done, and nothing that waits', () => {
    const bench = new Bench().give({ type: 'commanded', entry, outcome: 'taken' });
    expect(bench.commands).toEqual([{ type: 'save', save: { change: 'consumed', entry, outcome: 'taken' } }]);
    expect(inboxCounts(bench.state)).toEqual({ queued: 0, dispatched: 0 });
  });

  it('held are those that wait and those in a turn, of that channel', () => {
    const second = message();
    const elsewhere = entryOf(message(), 1, { channelId: otherChannel, lane: otherChannel });
    const bench = new Bench().accept(entry, entryOf(second, 2), elsewhere);
    bench.take('t', 0);
    expect([...heldEvents(bench.state, channel)].sort()).toEqual([event.id, second.id].sort());
  });
});

describe('restored', () => {
  const waiting = entryOf(message(), 5);
  const flying = entryOf(message(), 1);
  const stranded: Batch = { turnId: 'old', lane: channel, channelId: channel, entries: [flying] };

  it('what waited waits as it was, without being written again', () => {
    const bench = new Bench().give({ type: 'restored', queued: [waiting], stranded: [], answered: new Set() });
    expect(bench.commands).toEqual([]);
    expect(ids(bench.take('t', 5))).toEqual([waiting.eventId]);
  });

  it('a turn that was in flight comes back first, at once, interrupted, and it counts', () => {
    const bench = new Bench().give({ type: 'restored', queued: [waiting], stranded: [stranded], answered: new Set() }, 9);
    expect(bench.commands).toMatchObject([{ type: 'save', save: { change: 'queued', entry: { attempts: 1, interrupted: true } } }]);
    expect(bench.take('t', 9)?.entries[0]).toMatchObject({ eventId: flying.eventId, attempts: 1, interrupted: true });
  });

  it('one that was answered is done: asking again would answer twice', () => {
    const bench = new Bench().give({ type: 'restored', queued: [], stranded: [stranded], answered: new Set(['old']) });
    expect(bench.saves()).toEqual(['done']);
    expect(bench.state.channels.size).toBe(0);
  });

  it('one that ends the supervisor each time is given up, and told', () => {
    const tired: Batch = { ...stranded, entries: [{ ...flying, attempts: MAX_ATTEMPTS }] };
    const bench = new Bench().give({ type: 'restored', queued: [], stranded: [tired], answered: new Set() });
    expect(bench.commands.map((command) => command.type)).toEqual(['save', 'give_up']);
  });
});

describe('retries', () => {
  it('come back first, interrupted, after a wait that doubles up to five minutes', () => {
    const failing = entryOf(message(), 0);
    const next = entryOf(message(), 1);
    const bench = new Bench().accept(failing, next);
    const waits: number[] = [];
    for (let attempt = 1, now = 0; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const batch = bench.take(`t${attempt}`, now);
      expect(ids(batch)).toEqual([failing.eventId]);
      expect(batch?.entries[0].interrupted).toBe(attempt > 1);
      expect(bench.finish(`t${attempt}`, FAILED, now).saves()).toEqual(['queued']);
      const readyAt = nextReadyAt(bench.state) ?? 0;
      expect(bench.take('early', readyAt - 1)).toBeUndefined();
      waits.push(readyAt - now);
      now = readyAt;
    }
    expect(waits).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300, 300].map((seconds) => seconds * 1_000));
  });

  it('end in a dead letter that names the cause, and the lane goes on', () => {
    const tired = entryOf(message(), 0, { attempts: MAX_ATTEMPTS });
    const next = entryOf(message(), 1);
    const bench = new Bench().accept(tired, next);
    bench.take('t', 10);
    bench.finish('t', FAILED, 10);
    const [save, told] = bench.commands;
    expect(save).toMatchObject({ save: { change: 'dead', eventId: tired.eventId } });
    expect(told).toMatchObject({ type: 'give_up', reason: 'gave up after 10 retries: it broke' });
    expect(ids(bench.take('u', 10))).toEqual([next.eventId]);
  });

  it('a stop of ours neither counts nor waits', () => {
    const bench = new Bench().accept(entryOf(message(), 0));
    bench.take('t', 10);
    bench.finish('t', { how: 'again', reason: 'stop', interrupted: true, cause: 'stop' }, 10);
    expect(bench.take('u', 10)?.entries[0]).toMatchObject({ attempts: 0, interrupted: true });
  });
});

describe('bounds', () => {
  it('drops the oldest of a channel beyond 500 waiting', () => {
    const bench = new Bench();
    const entries = Array.from({ length: MAX_PENDING + 1 }, (_, index) => entryOf(message({ by: owner }), index));
    bench.accept(...entries);
    expect(bench.commands).toContainEqual({
      type: 'save', save: { change: 'dead', eventId: entries[0]?.eventId, outcome: 'overflow' },
    });
    expect(inboxCounts(bench.state).queued).toBe(MAX_PENDING);
  });

  it('where that was on offer to the turn under way, offers it the next, once', () => {
    const root = message();
    const turn = entryOf(root, 0);
    const entries = Array.from({ length: MAX_PENDING + 1 }, (_, index) => entryOf(message({ tags: inThread(root.id) }), index + 1));
    const accepted = (state: InboxState, entry: Entry): InboxStep => stepInbox(state, { type: 'accepted', entry, midTurn: { how: 'steer', place: 'thread' } }, ms(0));
    const begun = stepInbox(accepted(emptyInbox({ gatherMs: 0 }), turn).state, { type: 'take', turnId: 't' }, ms(0));
    const offers: unknown[] = [];
    let { state } = begun;
    for (const entry of [...entries, entryOf(message({ tags: inThread(root.id) }), 9_000)]) {
      const step = accepted(state, entry);
      offers.push(...step.commands.flatMap((command) => (command.type === 'offer' ? [command.entry.eventId] : [])));
      state = step.state;
    }
    expect(offers).toEqual(entries.slice(0, 3).map(({ eventId }) => eventId));
  });
});
