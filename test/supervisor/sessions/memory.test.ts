/** The sessions that outlive a process, on a real database. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventId } from '../../../src/model/index.ts';
import { openSqlite, sql, SUPERVISOR_SCHEMA } from '../../../src/store/index.ts';
import type { Store } from '../../../src/store/index.ts';
import { DeliveredEvents } from '../../../src/supervisor/sessions/delivered.ts';
import type { LaneSession } from '../../../src/supervisor/sessions/lane-session.ts';
import { MAX_AGE_MS, MAX_KEPT, MAX_REOPENINGS, SessionMemory } from '../../../src/supervisor/sessions/memory.ts';
import { HandClock } from '../hand-clock.ts';
import { agent, channel, friend, otherChannel } from '../people.ts';

const READ = eventId('1'.repeat(64));

interface Desk {
  readonly store: Store;
  readonly clock: HandClock;
  readonly memory: SessionMemory;
  readonly fatal: unknown[];
}

function open(store: Store = openSqlite(':memory:', SUPERVISOR_SCHEMA), who = agent): Desk {
  onTestFinished(() => store.close());
  const clock = new HandClock();
  const fatal: unknown[] = [];
  return { store, clock, fatal, memory: new SessionMemory({ store, agent: who.pubkey, clock, onFatal: (error) => { fatal.push(error); } }) };
}

function session(sessionId: string, clock: HandClock): LaneSession {
  return {
    sessionId, takesSystemPrompt: true, standing: { base: 'b' }, fingerprint: 'f', delivered: new DeliveredEvents([READ]), standingSent: true,
    turns: 2, turnSeq: 1, isKept: false, usedAtMs: clock.now(),
  };
}

const at = (lane: string, channelId = channel) => ({ lane, channelId });

async function count(store: Store): Promise<unknown> {
  const [row] = await store.read(sql('SELECT COUNT(*) AS n FROM sessions'));
  return row?.['n'];
}

describe('a session on disk', () => {
  it('is found as it was kept, by an agent of its own', async () => {
    const { store, clock, memory } = open();
    memory.keep(at('a'), session('s', clock));
    expect(await memory.find('a', 'f')).toEqual({
      sessionId: 's', fingerprint: 'f', inSystem: true, turns: 2, turnSeq: 1, reopenings: 0, delivered: new DeliveredEvents([READ]), usedAtMs: clock.now(),
    });
    expect(await memory.find('b', 'f')).toBeUndefined();
    expect(await open(store, friend).memory.find('a', 'f')).toBeUndefined();
  });

  it('is the one kept last in its lane, and forgotten by its own name alone', async () => {
    const { clock, memory } = open();
    memory.keep(at('a'), session('one', clock));
    memory.keep(at('a'), session('two', clock));
    memory.forget('a', 'one');
    expect(await memory.find('a', 'f')).toMatchObject({ sessionId: 'two' });
    memory.forget('a', 'two');
    expect(await memory.find('a', 'f')).toBeUndefined();
  });

  it('is given up where it was opened with something else', async () => {
    const { store, clock, memory } = open();
    memory.keep(at('a'), session('s', clock));
    expect(await memory.find('a', 'other')).toBeUndefined();
    await memory.settled();
    expect(await count(store)).toBe(0);
  });

  it(`is given up after ${MAX_REOPENINGS} tries, which a good turn makes good`, async () => {
    const { clock, memory } = open();
    const kept = session('s', clock);
    memory.keep(at('a'), kept);
    await memory.trying('a');
    await memory.trying('a');
    memory.keep(at('a'), kept);
    for (let attempt = 0; attempt < MAX_REOPENINGS; attempt += 1) {
      expect(await memory.find('a', 'f')).toMatchObject({ reopenings: attempt });
      await memory.trying('a');
    }
    expect(await memory.find('a', 'f')).toBeUndefined();
  });

  it('is given up when it is old', async () => {
    const { clock, memory } = open();
    memory.keep(at('a'), session('s', clock));
    await memory.settled();
    clock.push(MAX_AGE_MS);
    expect(await memory.find('a', 'f')).toBeDefined();
    clock.push(1);
    expect(await memory.find('a', 'f')).toBeUndefined();
  });

  it('goes with its channel, and no other does', async () => {
    const { clock, memory } = open();
    for (const [lane, of] of [[channel, channel], [`${channel}/t`, channel], [otherChannel, otherChannel]] as const) memory.keep(at(lane, of), session(lane, clock));
    memory.forgetChannel(channel);
    expect(await Promise.all([channel, `${channel}/t`, otherChannel].map((lane) => memory.find(lane, 'f')))).toMatchObject([undefined, undefined, { sessionId: otherChannel }]);
  });

  it('keeps the number of its metrics, and tells when that is on disk', async () => {
    const { clock, memory } = open();
    const kept = session('s', clock);
    const told: string[] = [];
    memory.count('a', kept, 5, () => told.push('at once'));
    expect(told).toEqual(['at once']);
    memory.keep(at('a'), kept);
    memory.count('a', kept, 6, () => told.push('later'));
    expect(told).toEqual(['at once']);
    await memory.settled();
    expect(told).toEqual(['at once', 'later']);
    expect(await memory.find('a', 'f')).toMatchObject({ turnSeq: 6 });
  });
});

describe('the table', () => {
  it('is bounded in number and age', async () => {
    const { store, clock, memory } = open();
    for (let lane = 0; lane < MAX_KEPT + 5; lane += 1) {
      memory.keep(at(`lane ${lane}`), session(`s${lane}`, clock));
      clock.push(1);
    }
    await memory.settled();
    expect(await count(store)).toBe(MAX_KEPT);
    expect(await memory.find('lane 4', 'f')).toBeUndefined();
    expect(await memory.find('lane 5', 'f')).toBeDefined();
    clock.push(2 * MAX_AGE_MS);
    memory.keep(at('new'), session('new', clock));
    await memory.settled();
    expect(await count(store)).toBe(1);
  });

  it('that cannot be written to is fatal', async () => {
    const { store, clock, memory, fatal } = open();
    await store.close();
    memory.keep(at('a'), session('s', clock));
    await memory.settled();
    expect(fatal).toEqual([expect.objectContaining({ code: 'storage_failed' })]);
  });
});
