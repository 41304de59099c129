/**
 * A long day of an inbox on a real disk, ended at every commit, before it and after it; then a new start on the same
 * file. Nothing that was accepted is lost, nothing that has ended comes back, and a turn that was out comes back once.
 */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { EventId } from '../../../src/model/index.ts';
import { openSqlite, SUPERVISOR_SCHEMA } from '../../../src/store/index.ts';
import type { Statement, Store } from '../../../src/store/index.ts';
import type { Entry } from '../../../src/supervisor/inbox/entry.ts';
import { stepInbox } from '../../../src/supervisor/inbox/machine.ts';
import type { Ending, InboxInput, Save } from '../../../src/supervisor/inbox/machine.ts';
import { emptyInbox } from '../../../src/supervisor/inbox/state.ts';
import type { InboxState } from '../../../src/supervisor/inbox/state.ts';
import { knows, loadInbox, saveStatement, storedCounts } from '../../../src/supervisor/inbox/rows.ts';
import { temporaryDirectory } from '../../setup/temp.ts';
import { agent, entryOf, friend, inThread, message, ms, otherChannel, someRoot } from '../people.ts';

const DONE: Ending = { how: 'done', outcome: 'end_turn' };
const DEAD: Ending = { how: 'dead', reason: 'no' };
const FAILED: Ending = { how: 'again', reason: 'it broke', interrupted: true, cause: 'failure' };
const CUT: Ending = { how: 'again', reason: 'cut short', interrupted: true, cause: 'stop' };
const STOPPED: Ending = { how: 'again', reason: 'stop', interrupted: false, cause: 'stop' };

const thread = [0, 1, 2].map((index) => entryOf(message({ at: 1_700_000_000 - index, tags: inThread(someRoot) }), index));
const other = entryOf(message({ by: friend, tags: inThread(someRoot) }), 3);
const there = [4, 5, 6].map((at) => entryOf(message(), at, { channelId: otherChannel, lane: otherChannel }));
const last = entryOf(message(), 7);
/** Given to a turn under way: one that it takes, one that it does not. */
const root = entryOf(message(), 8);
const [taken, refused] = [9, 10].map((at) => entryOf(message({ tags: inThread(root.eventId) }), at)) as [Entry, Entry];
const ENTRIES = [...thread, other, ...there, last, root, taken, refused];
const STEER = { how: 'steer', place: 'thread' } as const;

/** Every sort of input, each as one commit, as the driver makes them; a take rides on what came before it. */
const DAY: readonly (readonly InboxInput[])[] = [
  ...thread.map((entry): readonly InboxInput[] => [{ type: 'accepted', entry }]),
  [{ type: 'accepted', entry: other }, { type: 'take', turnId: 'a' }],
  ...there.map((entry): readonly InboxInput[] => [{ type: 'accepted', entry }]),
  [{ type: 'take', turnId: 'b' }],
  [{ type: 'finished', turnId: 'a', ending: FAILED, jitter: 0.5 }, { type: 'accepted', entry: last }],
  [{ type: 'take', turnId: 'c' }],
  [{ type: 'finished', turnId: 'b', ending: DONE, jitter: 0.5 }, { type: 'take', turnId: 'd' }],
  [{ type: 'finished', turnId: 'c', ending: STOPPED, jitter: 0.5 }, { type: 'take', turnId: 'e' }],
  [{ type: 'left', channelId: otherChannel }],
  [{ type: 'finished', turnId: 'd', ending: FAILED, jitter: 0.5 }],
  [{ type: 'finished', turnId: 'e', ending: DEAD, jitter: 0.5 }, { type: 'take', turnId: 'f' }],
  [{ type: 'finished', turnId: 'f', ending: DONE, jitter: 0.5 }, { type: 'take', turnId: 'g' }],
  [{ type: 'finished', turnId: 'g', ending: DONE, jitter: 0.5 }],
  [{ type: 'accepted', entry: root }, { type: 'take', turnId: 'h' }],
  [{ type: 'accepted', entry: taken, midTurn: STEER }],
  [{ type: 'steering', turnId: 'h', eventId: taken.eventId, published: 0 }],
  [{ type: 'steered', turnId: 'h', eventId: taken.eventId, answer: 'injected' }, { type: 'accepted', entry: refused, midTurn: STEER }],
  [{ type: 'steering', turnId: 'h', eventId: refused.eventId, published: 0 }],
  [{ type: 'steered', turnId: 'h', eventId: refused.eventId, answer: 'refused' }],
  [{ type: 'finished', turnId: 'h', ending: CUT, jitter: 0.5 }, { type: 'take', turnId: 'i' }],
  [{ type: 'finished', turnId: 'i', ending: DONE, jitter: 0.5 }],
];

/** From the nth write on the disk takes nothing; with `after`, the nth is on it and nobody hears so. */
function dying(store: Store, nth: number, when: 'before' | 'after'): Store {
  let writes = 0;
  return {
    read: (statement) => store.read(statement),
    close: () => store.close(),
    async write(...statements: readonly Statement[]) {
      writes += 1;
      if (writes < nth) return store.write(...statements);
      if (writes === nth && when === 'after') await store.write(...statements);
      throw new Error('dead');
    },
  };
}

/** As the driver does it: step, commit, and only then is it so. Returns the saves of every commit that was tried. */
async function live(store: Store, days: readonly (readonly InboxInput[])[]): Promise<readonly (readonly Save[])[]> {
  let state: InboxState = emptyInbox({ gatherMs: 0 });
  const commits: (readonly Save[])[] = [];
  for (const [index, inputs] of days.entries()) {
    const saves: Save[] = [];
    for (const input of inputs) {
      const step = stepInbox(state, input, ms(index * 1_000_000));
      state = step.state;
      saves.push(...step.commands.flatMap((command) => (command.type === 'save' ? [command.save] : [])));
    }
    if (saves.length === 0) continue;
    commits.push(saves);
    try {
      await store.write(...saves.map((save) => saveStatement(agent.pubkey, save)));
    } catch {
      return commits;
    }
  }
  return commits;
}

/** What each event is after these commits, by the last thing that was said of it. */
function fates(commits: readonly (readonly Save[])[]): ReadonlyMap<EventId, Save> {
  return new Map(commits.flat().map((save) => ['entry' in save ? save.entry.eventId : save.eventId, save]));
}

function idsOf(fate: ReadonlyMap<EventId, Save>, ...changes: readonly Save['change'][]): readonly EventId[] {
  return [...fate].filter(([, { change }]) => changes.includes(change)).map(([id]) => id).sort();
}

async function commitsOfTheDay(): Promise<readonly (readonly Save[])[]> {
  const store = openSqlite(':memory:', SUPERVISOR_SCHEMA);
  try {
    return await live(store, DAY);
  } finally {
    await store.close();
  }
}

const COMMITS = await commitsOfTheDay();

it('is a day with every kind of commit, at the end of which nothing waits', () => {
  expect(new Set(COMMITS.flat().map(({ change }) => change))).toEqual(new Set(['insert', 'dispatched', 'given', 'queued', 'done', 'dead']));
  const fate = fates(COMMITS);
  expect(idsOf(fate, 'done', 'dead')).toEqual(ENTRIES.map(({ eventId }) => eventId).sort());
  expect(COMMITS.length).toBeGreaterThan(12);
});

describe.each(COMMITS.map((_, index) => index + 1))('ended at commit %i', (nth) => {
  it.each(['before', 'after'] as const)('%s it', async (when) => {
    const path = join(temporaryDirectory(), 'skep.db');
    const before = dying(openSqlite(path, SUPERVISOR_SCHEMA), nth, when);
    await live(before, DAY);
    await before.close();
    const fate = fates(COMMITS.slice(0, when === 'after' ? nth : nth - 1));

    const store = openSqlite(path, SUPERVISOR_SCHEMA);
    const { queued, stranded } = await loadInbox(store, agent.pubkey);
    const flying = stranded.flatMap(({ entries }) => entries);
    expect(queued.map(({ eventId }) => eventId).sort(), 'what waits').toEqual(idsOf(fate, 'insert', 'queued'));
    expect(flying.map(({ eventId }) => eventId).sort(), 'what was in a turn').toEqual(idsOf(fate, 'dispatched', 'given'));
    for (const { turnId, lane, entries } of stranded) {
      for (const entry of entries) expect(fate.get(entry.eventId)).toMatchObject({ turnId });
      expect(new Set(entries.map((entry) => entry.lane))).toEqual(new Set([lane]));
    }
    expect(new Set(stranded.map(({ turnId }) => turnId)).size).toBe(stranded.length);
    for (const entry of queued) {
      const said = fate.get(entry.eventId);
      if (said?.change === 'queued') expect(entry).toEqual({ ...said.entry, merge: undefined, event: entry.event });
    }
    for (const { eventId } of ENTRIES) expect(await knows(store, agent.pubkey, eventId)).toBe(fate.has(eventId));

    await liveOn(store, queued.length + flying.length);
    await store.close();
  });
});

/** The rest of the life of what a restart found: each event is dispatched once more, ends, and a next start finds nothing. */
async function liveOn(store: Store, alive: number): Promise<void> {
  const { queued, stranded } = await loadInbox(store, agent.pubkey);
  const finished = await storedCounts(store, agent.pubkey);
  const rest: InboxInput[][] = [[{ type: 'restored', queued, stranded, answered: new Set() }]];
  for (let turn = 0; turn < ENTRIES.length; turn += 1) {
    rest.push([{ type: 'take', turnId: `again ${turn}` }], [{ type: 'finished', turnId: `again ${turn}`, ending: DONE, jitter: 0.5 }]);
  }
  const dispatched = (await live(store, rest)).flat().flatMap((save) => (save.change === 'dispatched' ? [save.eventId] : []));
  expect(new Set(dispatched).size, 'nothing twice').toBe(dispatched.length);
  expect(dispatched).toHaveLength(alive);
  expect(await loadInbox(store, agent.pubkey)).toEqual({ queued: [], stranded: [], above: new Map() });
  expect(await storedCounts(store, agent.pubkey)).toEqual({ queued: 0, dispatched: 0, done: finished.done + alive, dead: finished.dead });
}
