/** Deleting versions and teams: the machine's table, relays that refuse, a stop at every step. NIP-AP "Deleting a team". */
import { describe, expect, it } from 'vitest';
import { eventId, later, milliseconds, seconds } from '../../src/model/index.ts';
import type { Clock, Milliseconds } from '../../src/model/index.ts';
import { beginDeletion, stepDeletion } from '../../src/persona/deletion-machine.ts';
import type { DeletionInput, DeletionState } from '../../src/persona/deletion-machine.ts';
import {
  asTeamId, deleteTeam, deleteVersions, newTeamId, readTeam, saveTeamInstructions, saveVersion, teamGuard, versionPlaintext, versionTemplate, writeTeam,
} from '../../src/persona/index.ts';
import type { OwnerPorts, PersonaRelay, Team } from '../../src/persona/index.ts';
import { agent } from './people.ts';
import { memoryRelay, ports, seal, signed } from './world.ts';
import type { MemoryRelay } from './world.ts';

const ID = asTeamId('Bees') ?? expect.fail('no team id');
const BEES: Team = { status: 'live', id: ID, name: 'Bees', definitions: [], agents: [agent] };
const SUBJECT = { type: 'team', team: ID } as const;
const NOW = milliseconds(10_000);
const [A, B] = [eventId('a'.repeat(64)), eventId('b'.repeat(64))];

describe('the machine', () => {
  const none: ReadonlySet<typeof A> = new Set();
  const STATES: Readonly<Record<string, DeletionState>> = {
    listing: beginDeletion().state,
    deleting: { status: 'deleting', accepted: none, failures: 0, first: A, rest: [B] },
    last: { status: 'deleting', accepted: none, failures: 0, first: A, rest: [] },
    relisting: { status: 'listing', accepted: new Set([A]), failures: 0 },
    waiting: { status: 'waiting', accepted: none, failures: 2, dueAt: NOW },
    early: { status: 'waiting', accepted: none, failures: 2, dueAt: later(NOW, 1) },
    done: { status: 'done', accepted: none, failures: 0 },
  };
  const INPUTS: Readonly<Record<string, DeletionInput>> = {
    some: { type: 'listed', ids: [A] }, none: { type: 'listed', ids: [] }, list_failed: { type: 'list_failed' }, yes: { type: 'answered', isAccepted: true },
    no: { type: 'answered', isAccepted: false }, due: { type: 'due' },
  };
  const word = (state: DeletionState) => (state.status === 'waiting' ? `waiting ${String(state.dueAt - NOW)}` : state.status);

  it.each([
    ['listing', ['deleting delete', 'done', 'waiting 1000', '-', '-', '-']],
    ['deleting', ['-', '-', '-', 'deleting delete', 'waiting 1000', '-']],
    ['last', ['-', '-', '-', 'listing list', 'waiting 1000', '-']],
    ['relisting', ['waiting 1000', 'done', 'waiting 1000', '-', '-', '-']],
    ['waiting', ['-', '-', '-', '-', '-', 'listing list']],
    ['early', ['-', '-', '-', '-', '-', '-']],
    ['done', ['-', '-', '-', '-', '-', '-']],
  ])('%s', (name, expected) => {
    const state = STATES[name] ?? expect.fail('no state');
    const found = Object.values(INPUTS).map((input) => {
      const step = stepDeletion(state, input, NOW);
      return step.state === state && step.commands.length === 0 ? '-' : [word(step.state), ...step.commands.map(({ type }) => type)].join(' ');
    });
    expect(found).toEqual(expected);
  });

  it('pauses longer each time, up to a minute', () => {
    let state = beginDeletion().state;
    const pauses: number[] = [];
    for (let at: Milliseconds = NOW; pauses.length < 9;) {
      state = stepDeletion(state, { type: 'list_failed' }, at).state;
      if (state.status !== 'waiting') return expect.fail(state.status);
      pauses.push((state.dueAt - at) / 1_000);
      at = state.dueAt;
      state = stepDeletion(state, { type: 'due' }, at).state;
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
  });
});

/** A clock that is always at the time somebody waits for. */
function quickClock(): Clock & { readonly slept: () => number } {
  let now = 0;
  return {
    slept: () => now,
    now: () => milliseconds(now),
    wake: (at, callback) => {
      let isOn = true;
      queueMicrotask(() => {
        if (!isOn) return;
        now = Math.max(now, at);
        callback();
      });
      return () => { isOn = false; };
    },
  };
}

function patience(signal = new AbortController().signal) {
  return { clock: quickClock(), signal };
}

async function withVersions(relay: MemoryRelay, count: number): Promise<OwnerPorts> {
  const one = ports(relay);
  await writeTeam(one, BEES);
  for (let at = 0; at < count; at += 1) relay.put(signed(versionTemplate(SUBJECT, seal(versionPlaintext(String(at))), seconds(at))));
  return one;
}

function versionsOn(relay: MemoryRelay): number {
  return relay.events().filter(({ kind }) => kind === 44_300).length;
}

describe('deleting versions', () => {
  it('is one request a version, with its k, and no request for others', async () => {
    const relay = memoryRelay({ cap: () => 2 });
    const one = await withVersions(relay, 5);
    const other = signed(versionTemplate({ type: 'agent', agent }, seal('v1:'), seconds(1)));
    relay.put(other);
    expect(await deleteVersions(one, SUBJECT, patience())).toBe('done');
    const requests = relay.published.filter(({ kind }) => kind === 5);
    expect(requests).toHaveLength(5);
    expect(requests.every(({ tags }) => tags.length === 2 && tags[0]?.[0] === 'e' && tags[1]?.join() === 'k,44300')).toBe(true);
    expect(relay.events().filter(({ kind }) => kind === 44_300)).toEqual([other]);
  });

  it('goes on until the relay lists none, whatever it said before', async () => {
    let asked = 0;
    const relay = memoryRelay({
      isComplete: () => asked++ % 3 !== 0,
      // Refused, lost, and accepted without effect.
      verdict: ({ kind }) => (kind !== 5 || asked % 4 === 3 ? undefined : [
        { publication: { status: 'rejected', reason: 'x' } as const, stored: false }, { publication: { status: 'unknown', reason: 'x' } as const, stored: false },
        { publication: { status: 'accepted' } as const, stored: false },
      ][asked % 4]),
    });
    for (let at = 0; at < 3; at += 1) relay.put(signed(versionTemplate(SUBJECT, seal('v1:'), seconds(at))));
    const one = patience();
    const pauses: number[] = [];
    expect(await deleteVersions(ports(relay), SUBJECT, { ...one, onPause: (pauseMs) => pauses.push(pauseMs) })).toBe('done');
    expect([versionsOn(relay), one.clock.slept() > 0]).toEqual([0, true]);
    expect(pauses[0]).toBe(1_000);
  });

  it('that is stopped says so, and does not say that it is done', async () => {
    const stop = new AbortController();
    const relay = memoryRelay({ verdict: ({ kind }) => { if (kind === 5) stop.abort(); return undefined; } });
    const one = await withVersions(relay, 3);
    expect(await deleteVersions(one, SUBJECT, patience(stop.signal))).toBe('stopped');
    expect(versionsOn(relay)).toBe(2);
    expect(await deleteVersions(one, SUBJECT, patience())).toBe('done');
  });
});

describe('deleting a team', () => {
  it('ends the record before any version, and lets none follow', async () => {
    const relay = memoryRelay();
    const one = await withVersions(relay, 2);
    expect(await deleteTeam(one, ID, patience())).toEqual({ status: 'done' });
    expect(relay.published.map(({ kind }) => kind)).toEqual([30_078, 30_078, 5, 5, 30_078]);
    expect(await readTeam(one, ID)).toMatchObject({ record: { status: 'deleted', versions: 'gone' } });
    expect(await saveTeamInstructions(one, ID, 'x')).toMatchObject({ status: 'failed', refusal: { code: 'deleted' } });
    expect(await saveVersion(one, { subject: SUBJECT, guard: teamGuard(one, ID), text: 'x' })).toMatchObject({ status: 'failed', refusal: { code: 'deleted' } });
    expect(await writeTeam(one, BEES)).toMatchObject({ ok: false, code: 'deleted' });
    expect(await deleteTeam(one, ID, patience())).toEqual({ status: 'done' });
    expect(newTeamId({ bytes: (count) => new Uint8Array(count), fraction: () => 0 })).not.toBe(ID);
  });

  it('deletes no version where the end of the record is not shown', async () => {
    const relay = memoryRelay({ verdict: ({ kind }) => (kind === 30_078 && relay.published.length > 1 ? { publication: { status: 'accepted' }, stored: false } : undefined) });
    const one = await withVersions(relay, 2);
    expect(await deleteTeam(one, ID, patience())).toMatchObject({ status: 'failed', refusal: { code: 'overtaken' } });
    expect([versionsOn(relay), relay.published.some(({ kind }) => kind === 5)]).toEqual([2, false]);
  });

  it('is ended also where its record cannot be read', async () => {
    const relay = memoryRelay();
    const one = await withVersions(relay, 1);
    const [record] = relay.events();
    if (record === undefined) return expect.fail('a record');
    relay.put(signed({ ...record, created_at: seconds(record.created_at + 9), content: seal('no record') }));
    expect(await readTeam(one, ID)).toMatchObject({ ok: false, code: 'content' });
    expect(await deleteTeam(one, ID, patience())).toEqual({ status: 'done' });
  });

  it('can die at every step and is then finished by another run', async () => {
    let steps = 0;
    for (let diesAt = 0; ; diesAt += 1) {
      const relay = memoryRelay();
      const one = await withVersions(relay, 3);
      steps = 0;
      const dying = (): void => { if (steps++ === diesAt) throw new Error('killed'); };
      const mortal: PersonaRelay = {
        query: async (queries) => { dying(); return relay.query(queries); },
        // Half of the deaths are before the relay has the event, half are after.
        publish: async (event) => { dying(); const sent = await relay.publish(event); dying(); return sent; },
      };
      const died = await deleteTeam(ports(mortal), ID, patience()).then(() => false, (error: unknown) => { expect(error).toMatchObject({ message: 'killed' }); return true; });
      const record = await readTeam(one, ID);
      if (!record.ok) return expect.fail(record.detail);
      // As long as the team is there, so are all of its versions.
      if (record.record?.status === 'live') expect(versionsOn(relay)).toBe(3);
      if (record.record?.status === 'deleted' && record.record.versions === 'gone') expect(versionsOn(relay)).toBe(0);
      expect(await deleteTeam(one, ID, patience())).toEqual({ status: 'done' });
      expect(versionsOn(relay)).toBe(0);
      if (!died) break;
    }
    expect(steps).toBeGreaterThan(15);
  });
});
