/** When an agent is started, with what, and what is told meanwhile: over a relay in memory and a real database. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { MemoryDesk, ObserverFrame } from '../../src/broker/index.ts';
import { openLaunches } from '../../src/launches/index.ts';
import type { Launches, LaunchStart } from '../../src/launches/index.ts';
import { pubkey, refuse, seconds, silentLog } from '../../src/model/index.ts';
import { asTeamId, definitionTemplate, deleteTeam, plainDefinition, versionPlaintext, versionTemplate, writeDefinition, writeTeam } from '../../src/persona/index.ts';
import type { Definition, LaunchOrder } from '../../src/persona/index.ts';
import { steadyClock } from '../../src/system/index.ts';
import { TestClock, until } from '../broker/upstream/clock.ts';
import { openStore } from '../broker/temp-store.ts';
import { agent, stranger } from '../persona/people.ts';
import { memoryRelay, ownerKey, ports, seal, signed } from '../persona/world.ts';
import type { MemoryRelay } from '../persona/world.ts';

interface World {
  readonly clock: TestClock;
  readonly relay: MemoryRelay;
  readonly launches: Launches;
  readonly starts: LaunchStart[];
  readonly frames: ObserverFrame[];
  readonly written: [string, string][];
  readonly warnings: string[];
  readonly news: () => void;
  /** What the access and the relay do not give. */
  readonly broken: { access?: 'unavailable' | 'owner'; answers: boolean; memory: boolean };
  /** Until everything that is to happen at this moment has happened. */
  readonly settle: (holds: () => boolean) => Promise<void>;
}

function world(orders: readonly Partial<LaunchOrder>[] = [{}], { observed = true } = {}): World {
  const clock = new TestClock();
  const broken: World['broken'] = { answers: true, memory: true };
  const relay = memoryRelay({ isComplete: () => broken.answers });
  const [starts, frames, written, warnings]: [LaunchStart[], ObserverFrame[], [string, string][], string[]] = [[], [], [], []];
  let news = (): void => {};
  let runs = 0;
  const memory: MemoryDesk = {
    read: async (slug) => (broken.memory ? { ok: true, value: written.findLast(([name]) => name === slug)?.[1] } : { ok: false }),
    write: async (slug, value) => {
      if (!broken.memory) return 'unknown';
      written.push([slug, value]);
      return 'stored';
    },
  };
  const launches = openLaunches({
    targets: orders.map((order, index) => {
      const one = index === 0 ? agent : stranger;
      return {
        name: `a${String(index)}`, pubkey: one, observed, link: () => ({ memory, tell: (frame) => { frames.push(frame); } }),
        order: { agent: one, persona: 'bee', teams: [], overrides: {}, ...order },
      };
    }),
    access: {
      ports: async () => (broken.access === undefined ? { ok: true, ports: { key: ownerKey(), relay } } : refuse(broken.access, 'no signer')),
      trouble: () => 'connection refused', onNews: (listener) => { news = listener; }, close: async () => undefined,
    },
    community: 'wss://relay.example', store: openStore(), start: (start) => { starts.push(start); }, clock, steadyClock: clock, random: { bytes: (count) => new Uint8Array(count).fill(runs += 1), fraction: () => 0.5 },
    log: { ...silentLog, warn: (line, fields) => { warnings.push(`${line} ${JSON.stringify(fields)}`); } },
    onFatal: (error) => { throw error; },
  });
  onTestFinished(() => {
    const closed = launches.close();
    clock.advance(5_000);
    return closed;
  });
  return {
    clock, relay, launches, starts, frames, written, warnings, broken, news: () => { news(); },
    settle: async (holds) => {
      await until(() => {
        clock.advance(50);
        return holds();
      });
    },
  };
}

function define(relay: MemoryRelay, more: Partial<Definition> = {}, at = 1): void {
  const written = writeDefinition({ ...plainDefinition('Bee'), systemPrompt: 'template', ...more }, false);
  relay.put(signed(definitionTemplate({ slug: 'bee', body: written.ok ? written.body : '', isShared: false, createdAt: seconds(at) })));
}

function save(relay: MemoryRelay, text: string, at: number): void {
  relay.put(signed(versionTemplate({ type: 'agent', agent }, seal(versionPlaintext(text)), seconds(at))));
}

const statusOf = ({ launches }: World): string => launches.snapshot().map(({ status, reason }) => (reason === undefined ? status : `${status}: ${reason}`)).join('; ');

describe('an agent is not started', () => {
  it('while nobody answers: it is asked again after 1 s, doubling, at most a minute', async () => {
    const one = world();
    define(one.relay);
    one.broken.answers = false;
    await until(() => statusOf(one).includes('relay: expected an answer'));
    expect(statusOf(one)).toBe('reading: relay: expected an answer about the current version: connection refused');
    expect(one.launches.waiting()).toBe(1);
    one.broken.answers = true;
    one.clock.advance(900);
    expect(one.starts).toEqual([]);
    await one.settle(() => one.starts.length === 1);
    expect(one.starts[0]).toMatchObject({ standing: { system: 'template' }, sessionPolicy: 'channel', model: undefined });
    expect([statusOf(one), one.launches.waiting(), one.frames]).toEqual(['running', 0, []]);
  });

  it('nor where the signer is away or holds another key', async () => {
    const one = world();
    one.broken.access = 'unavailable';
    await until(() => statusOf(one) === 'reading: no signer');
    one.broken.access = 'owner';
    await one.settle(() => statusOf(one) === 'refused: no signer');
    expect(one.starts).toEqual([]);
  });

  it('where its owner has to mend something: the others run on, the owner is told, and it starts when it is mended', async () => {
    const two = world([{ persona: 'bee' }, { persona: 'ant' }]);
    define(two.relay);
    await until(() => statusOf(two) === 'running; refused: definition ant: its owner has none on the relay; skep persona new ant makes one');
    expect(two.starts.map(({ target }) => target.name)).toEqual(['a0']);
    expect(two.frames).toEqual([{ kind: 'launch_refused', payload: '{"code":"definition_unusable","detail":"definition ant: its owner has none on the relay; skep persona new ant makes one"}', rank: 'lifecycle' }]);
    expect(two.warnings).toHaveLength(1);
    // Nobody answers: what was known holds.
    two.broken.answers = false;
    two.news();
    await two.settle(() => (two.launches.snapshot()[0]?.reason ?? '').startsWith('relay'));
    expect(two.launches.snapshot()[1]).toMatchObject({ status: 'refused', reason: 'definition ant: its owner has none on the relay; skep persona new ant makes one' });
    two.broken.answers = true;
    const written = writeDefinition({ ...plainDefinition('Ant'), systemPrompt: 'ant' }, false);
    two.relay.put(signed(definitionTemplate({ slug: 'ant', body: written.ok ? written.body : '', isShared: false, createdAt: seconds(1) })));
    two.news();
    await two.settle(() => statusOf(two) === 'running; running');
    expect(two.starts.map(({ target }) => target.name)).toEqual(['a0', 'a1']);
    expect(two.warnings).toHaveLength(1);
  });

  it('and its owner is told nothing where they want to be told nothing', async () => {
    const one = world([{}], { observed: false });
    await until(() => statusOf(one).startsWith('refused'));
    expect(one.frames).toEqual([]);
  });
});

describe('an agent that runs', () => {
  it('keeps what it was told; what a restart would change is said, also where it could not be started', async () => {
    const one = world([{ overrides: { own: { text: 'here', source: 'skep.yaml' } } }]);
    define(one.relay);
    await until(() => one.starts.length === 1);
    expect(one.launches.snapshot()[0]).toMatchObject({ status: 'running', runId: '01'.repeat(16), pinned: { own: { source: 'definition', override: 'skep.yaml' } }, drift: [] });
    save(one.relay, 'saved', 5);
    define(one.relay, { sessionPolicy: 'thread' }, 2);
    one.news();
    await one.settle(() => one.launches.snapshot()[0]?.drift.length === 1);
    // The text of this machine stands in its place before and after.
    expect(one.launches.snapshot()[0]).toMatchObject({ drift: ['session-policy'], current: { own: { source: 'version' }, sessionPolicy: 'thread' } });
    one.relay.put(signed(versionTemplate({ type: 'agent', agent }, 'x', seconds(9))));
    one.news();
    await one.settle(() => one.launches.snapshot()[0]?.reason !== undefined);
    expect(one.launches.snapshot()[0]).toMatchObject({ status: 'running', reason: expect.stringContaining('is invalid'), drift: [] });
    expect(one.launches.snapshot()[0]).not.toHaveProperty('current');
    expect(await one.launches.refusalOf(agent)).toMatchObject({ code: 'instructions_invalid' });
    expect(await one.launches.refusalOf(pubkey('f'.repeat(64)))).toBeUndefined();
    expect([one.starts.length, one.frames]).toEqual([1, []]);
  });

  it('keeps its model, too, and a restart would take up another one', async () => {
    const one = world();
    define(one.relay, { model: 'small' });
    await until(() => one.starts.length === 1);
    expect(one.starts[0]?.model).toBe('small');
    define(one.relay, { model: 'large' }, 2);
    one.news();
    await one.settle(() => one.launches.snapshot()[0]?.drift.join() === 'model');
    expect(one.launches.snapshot()[0]).toMatchObject({ pinned: { model: { id: 'small' } }, current: { model: { id: 'large' } } });
    one.launches.ended(agent);
    await one.settle(() => one.starts.length === 2);
    expect(one.starts[1]?.model).toBe('large');
  });

  it('is compared every five minutes where the relay tells of nothing', async () => {
    const one = world();
    define(one.relay);
    await until(() => one.starts.length === 1);
    save(one.relay, 'saved', 5);
    one.clock.advance(299_000);
    expect(one.launches.snapshot()[0]?.drift).toEqual([]);
    await one.settle(() => one.launches.snapshot()[0]?.drift.join() === 'instructions');
  });

  it('is started with what holds when it has ended, not with what was read before', async () => {
    const one = world();
    define(one.relay);
    await until(() => one.starts.length === 1);
    // A reading begins before the save, and comes after the end.
    one.news();
    one.launches.ended(agent);
    save(one.relay, 'saved', 5);
    await one.settle(() => one.starts.length === 2);
    expect(one.starts[1]?.standing).toEqual({ system: 'saved' });
    expect(one.launches.snapshot()[0]?.drift).toEqual([]);
  });

  it('has no deleted team, and its operator is told so', async () => {
    const team = asTeamId('Bees') ?? expect.fail('no team id');
    const one = world([{ teams: [team] }]);
    one.broken.access = 'unavailable';
    define(one.relay);
    await writeTeam(ports(one.relay), { status: 'live', id: team, name: 'Bees', instructions: 'hum', definitions: [], agents: [] });
    await deleteTeam(ports(one.relay), team, { clock: steadyClock, signal: new AbortController().signal });
    delete one.broken.access;
    await one.settle(() => one.starts.length === 1);
    expect(one.starts[0]?.standing).toEqual({ system: 'template' });
    expect(one.warnings.join()).toContain('a team of an agent was deleted');
  });
});

it('a start is recorded once a process has started, and tried until it is stored; the definition is copied, its secrets kept', async () => {
  const one = world();
  one.written.push(['mem/persona', '{"v":1,"persona":"old","definition":{},"env_vars":{"TOKEN":"x"}}']);
  define(one.relay);
  await until(() => one.starts.length === 1);
  const [start] = one.starts;
  expect([one.written.length, one.launches.snapshot()[0]?.pendingRecords]).toEqual([1, 0]);
  one.broken.memory = false;
  start?.onProcess();
  start?.onProcess();
  expect(one.launches.snapshot()[0]?.pendingRecords).toBe(1);
  one.clock.advance(10_000);
  one.broken.memory = true;
  await one.settle(() => one.launches.snapshot()[0]?.pendingRecords === 0);
  await one.settle(() => one.written.length === 3);
  const [, [slug, record] = ['', '{}'], copy] = one.written;
  expect(slug).toBe(`mem/launches/${'01'.repeat(16)}`);
  expect(JSON.parse(record)).toMatchObject({ v: 1, run_id: '01'.repeat(16), own: { source: 'definition' } });
  expect(copy).toEqual(['mem/persona', '{"v":1,"persona":"bee","definition":{"display_name":"Bee","system_prompt":"template"},"env_vars":{"TOKEN":"x"}}']);
});
