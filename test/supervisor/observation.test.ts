/** What an owner is told of turns, however they end; and what of the conversation belongs to which turn. */
import { describe, expect, it } from 'vitest';
import type { LineAbout } from '../../src/acp/index.ts';
import type { ObserverFrame } from '../../src/broker/index.ts';
import { Observation } from '../../src/supervisor/observation.ts';
import { HARD_MS, IDLE_MS, openBench } from './bench.ts';
import type { Bench, BenchOptions } from './bench.ts';
import { fakeLink } from './fake-link.ts';
import { HandClock } from './hand-clock.ts';
import type { VerifiedEvent } from '../../src/nostr/index.ts';
import { channel, entryOf, message } from './people.ts';

const PROGRAM = { command: 'agent', args: ['--api-key', 'hunter2hunter2', '--url=https://me:hunter3hunter3@host/'] };
const OBSERVED = { observation: { livenessMs: 10_000, packed: false, program: PROGRAM } };

const OF_THE_WHOLE = ['harness_started', 'managed_agent_runtime_lifecycle'];

function bench(options: BenchOptions = {}): Bench {
  return openBench({ ...options, ...OBSERVED });
}

const mention = (content: string): VerifiedEvent => message({ content });

function told({ link }: Bench, kind: string): readonly ObserverFrame[] {
  return link.told.filter((frame) => frame.kind === kind);
}

function failures(at: Bench): readonly unknown[] {
  return told(at, 'turn_error').map(({ payload }) => JSON.parse(payload) as unknown);
}

async function ends(at: Bench, count = 1): Promise<void> {
  await at.until(() => told(at, 'turn_completed').length >= count);
}

/** One start and one end a turn, whatever came between; nothing of a turn after its end. */
function isWhole(at: Bench): void {
  const ids = told(at, 'turn_started').map(({ turnId }) => turnId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(told(at, 'turn_completed').map(({ turnId }) => turnId)).toEqual(ids);
  for (const id of ids) {
    const kinds = at.link.told.filter(({ turnId }) => turnId === id).map(({ kind }) => kind);
    expect([kinds[0], kinds.at(-1)]).toEqual(['turn_started', 'turn_completed']);
    expect(kinds.filter((kind) => kind === 'turn_error').length).toBeLessThanOrEqual(1);
  }
}

describe('a turn', () => {
  it('that ends well is told from its start to its end, and so is the next one in its session', async () => {
    const at = bench();
    const first = mention('one');
    await at.hear(first);
    await ends(at);
    await at.hear(mention('two'));
    await ends(at, 2);
    isWhole(at);
    expect(failures(at)).toEqual([]);
    expect(JSON.parse(told(at, 'turn_started')[0]?.payload ?? '')).toEqual({ source: 'channel', triggeringEventIds: [first.id] });
    expect(told(at, 'session_resolved').map(({ payload }) => (JSON.parse(payload) as { isNewSession: boolean }).isNewSession)).toEqual([true, false]);
    expect(told(at, 'prompt_context_delivery')).toHaveLength(2);
    expect(told(at, 'agent_initialized')).toHaveLength(1);
    expect(at.link.told.filter(({ kind }) => !OF_THE_WHOLE.includes(kind)).every(({ agentIndex }) => agentIndex === 0)).toBe(true);
  });

  it('that fails says how: an error of the agent', async () => {
    const at = bench({ script: { rules: [{ match: 'one', do: [{ error: { code: -32_042, message: 'no luck' } }] }, { do: [{ say: 'ok' }] }] } });
    await at.hear(mention('one'));
    await ends(at);
    isWhole(at);
    expect(failures(at)).toEqual([{ outcome: 'error', error: 'no luck', code: -32_042 }]);
  });

  it('that fails says how: the end of the process, also of one that was cut short', async () => {
    const at = bench({ script: { rules: [{ do: [{ die: 'SIGKILL' }] }] } });
    await at.hear(mention('one'));
    await ends(at);
    isWhole(at);
    expect(failures(at)).toMatchObject([{ outcome: 'exited' }]);
  });

  it.each([
    ['idle_timeout', IDLE_MS],
    ['hard_timeout', HARD_MS],
  ] as const)('that fails says how: %s', async (outcome, afterMs) => {
    const at = bench({ script: { rules: [{ do: [{ wait: 'never' }] }] }, ...(outcome === 'hard_timeout' && { idleTimeoutMs: 2 * HARD_MS }) });
    await at.hear(mention('one'));
    await at.nth('turn_started');
    at.clock.push(afterMs);
    await ends(at);
    isWhole(at);
    expect(failures(at)).toMatchObject([{ outcome }]);
  });

  it('that a stop cuts short has an end, too', async () => {
    const at = bench({ script: { rules: [{ do: [{ wait: 'never' }] }] } });
    await at.hear(mention('one'));
    await at.nth('turn_started');
    const stopping = at.agent.stop(0);
    at.clock.push(1);
    await stopping;
    isWhole(at);
    expect(told(at, 'turn_completed')).toHaveLength(1);
  });

  it('shows a sign of life every so often, and none after its end', async () => {
    const at = bench({ script: { rules: [{ do: [{ wait: 'go' }] }] } });
    await at.hear(mention('one'));
    await at.nth('turn_started');
    at.clock.push(10_000);
    at.clock.push(10_000);
    expect(told(at, 'turn_liveness')).toHaveLength(2);
    at.openGate('go');
    await ends(at);
    at.clock.push(60_000);
    expect(told(at, 'turn_liveness')).toHaveLength(2);
    isWhole(at);
  });

  it('that skep cannot carry to its end is told as failed, and as over; no alarm is left of it', async () => {
    const [link, clock] = [fakeLink(), new HandClock()];
    const observation = new Observation({ link, clock, livenessMs: 10_000, packed: false });
    const watch = observation.begin(0, { turnId: 't', channelId: channel, entries: [entryOf(mention('x'), 0)] });
    expect(clock.armed).toBe(1);
    await expect(watch.through(Promise.reject(new Error('a bug')))).rejects.toThrow('a bug');
    expect(link.told.map(({ kind }) => kind)).toEqual(['turn_started', 'turn_error', 'turn_completed']);
    expect(clock.armed).toBe(0);
    watch.ended({ status: 'idle_timeout', afterMs: 1, processAlive: true, seen: { text: '', textCut: false, thoughts: 0, toolCalls: 0, updates: 0 } });
    expect(link.told).toHaveLength(3);
  });

  it('whose session the agent refuses is told as failed', async () => {
    const at = bench({ script: { newSession: { error: { code: -32_000, message: 'log in first' } }, rules: [] } });
    await at.hear(mention('one'));
    await ends(at);
    isWhole(at);
    expect(failures(at)).toMatchObject([{ outcome: 'error', code: -32_000 }]);
    expect(told(at, 'session_resolved')).toEqual([]);
  });

  it('is told in packs where that is asked for', () => {
    const link = fakeLink();
    expect(new Observation({ link, clock: new HandClock(), livenessMs: 10_000, packed: true })).toBeDefined();
    expect(link.calls).toEqual(['pack']);
  });

  it('without observation is not told', async () => {
    const at = openBench();
    await at.hear(mention('one'));
    await at.nth('turn_ended');
    expect(at.link.told).toEqual([]);
  });
});

describe('an agent as a whole', () => {
  const states = (at: Bench): readonly unknown[] => told(at, 'managed_agent_runtime_lifecycle').map(({ payload }) => {
    const { lifecycle, error } = JSON.parse(payload) as { lifecycle: string; error: unknown };
    return error === null ? lifecycle : [lifecycle, error];
  });

  it('is told once as it is run, without the secrets of its command line, and as waking and ready', async () => {
    const at = bench({ processes: 2 });
    await at.nth('process_started', 2);
    expect(told(at, 'harness_started').map(({ payload, ...place }) => [JSON.parse(payload) as unknown, place])).toEqual([[{
      relayUrl: 'ws://127.0.0.1:1', agentCommand: 'agent', agentArgs: ['--api-key', '<redacted>', '--url=https://me:<redacted>@host/'],
      parallelism: 2, relayObserver: true,
    }, { kind: 'harness_started', rank: 'lifecycle' }]]);
    expect(states(at)).toEqual(['waking', 'ready']);
    expect(JSON.parse(told(at, 'managed_agent_runtime_lifecycle')[0]?.payload ?? '')).toMatchObject({ pubkey: at.link.pubkey, relayUrl: 'ws://127.0.0.1:1', startNonce: null });
  });

  it('is told as waking while its only process is another, and as failed, with the cause, when none can be had', async () => {
    const at = bench({ script: { rules: [{ do: [{ die: 7 }] }] } });
    await at.nth('process_started');
    at.command = '/nowhere/agent';
    await at.hear(mention('one'));
    await at.nth('process_ended');
    at.clock.push(2_000);
    await at.until(() => states(at).length === 4);
    expect(states(at)).toEqual(['waking', 'ready', 'waking', ['failed', "/nowhere/agent: no such program on the agent's PATH"]]);
  });

  it('is told nothing of a stop', async () => {
    const at = bench();
    await at.nth('process_started');
    await at.agent.stop(0);
    expect(states(at)).toEqual(['waking', 'ready']);
  });
});

describe('a line', () => {
  const [link, clock] = [fakeLink(), new HandClock()];
  const line = (method: string, sessionId?: string, answers = false): LineAbout => ({ is: 'message', method, answers, ...(sessionId !== undefined && { sessionId }) });
  const place = (): unknown => {
    const { channelId, sessionId, turnId } = link.told.at(-1) ?? {};
    return [channelId, sessionId, turnId];
  };

  it('belongs to the turn of its session, or to none', () => {
    const observation = new Observation({ link, clock, livenessMs: 10_000, packed: false });
    const tap = observation.tap(3, {});
    tap('read', '{}', line('session/update', 'early'));
    expect(place()).toEqual([undefined, 'early', undefined]);
    const watch = observation.begin(3, { turnId: 't', channelId: channel, entries: [entryOf(mention('x'), 0)] });
    tap('write', '{}', line('session/new'));
    expect(place()).toEqual([channel, undefined, 't']);
    tap('read', '{}', line('session/update', 'late'));
    expect(place()).toEqual([undefined, 'late', undefined]);
    tap('read', '{"result":{}}', line('session/new', 's', true));
    expect(place()).toEqual([channel, 's', 't']);
    watch.resolved('s', true);
    tap('read', '{}', line('session/update', 's'));
    expect(place()).toEqual([channel, 's', 't']);
    tap('read', '{}', line('session/update', 'late'));
    expect(place()).toEqual([undefined, 'late', undefined]);
    tap('read', 'oops', { is: 'noise', why: 'not_json' });
    expect(place()).toEqual([channel, 's', 't']);
    const before = link.told.length;
    tap('read', '{}', { is: 'permission', method: 'session/request_permission', answers: false, sessionId: 's' });
    expect(link.told).toHaveLength(before);
  });

  it('holds no secret of any process of the agent that runs now', () => {
    const observation = new Observation({ link, clock, livenessMs: 10_000, packed: false });
    const [first, second] = [observation.tap(0, { SKEP_CREDENTIAL: 'credential-of-the-first' }), observation.tap(1, { API_KEY: 'a"key\\of-the-operator', HOME: '/home/someone' })];
    first('read', JSON.stringify({ a: 'a"key\\of-the-operator', b: 'credential-of-the-first /home/someone' }), line('session/update', 's'));
    expect(link.told.at(-1)?.payload).toBe('{"a":"<redacted>","b":"<redacted> /home/someone"}');
    second('read', 'credential-of-the-first', { is: 'noise', why: 'not_json' });
    expect(link.told.at(-1)?.payload).toContain('<redacted>');
  });
});
