/** Turns that no message asks for: when they come, what they are given, what becomes of them, and what they never do. */
import { describe, expect, it } from 'vitest';
import type { OperatorSettings } from '../../src/supervisor/operator/settings.ts';
import { IDLE_MS, openBench } from './bench.ts';
import type { Bench, BenchOptions } from './bench.ts';
import { inThread, message, someRoot } from './people.ts';

const EVERY_MS = 40_000;
const BEATS: OperatorSettings = { heartbeat: { everyMs: EVERY_MS, prompt: 'look around' }, session: 'kept' };
const INITIAL: OperatorSettings = { initial: { prompt: 'read your memory', when: 'start' }, session: 'kept' };
const ONCE: OperatorSettings = { initial: { prompt: 'read your memory', when: 'once' }, session: 'kept' };
const ANSWER = { do: [{ say: 'answer' }] };
const OBSERVED = { livenessMs: 600_000, packed: false, program: { command: 'x', args: [] } };
const AT_WORK = { tool: { title: 'build', id: 't1', updates: [{ status: 'in_progress' }] } };
const GATED = { rules: [{ match: 'look around', do: [{ wait: 'beat' }, { say: 'nothing new' }] }, ANSWER] };

/** What the agent says of its tool has been read. */
function isToolHeard(bench: Bench): boolean {
  return bench.link.told.some(({ kind, payload }) => kind === 'acp_read' && payload.includes('in_progress'));
}

/** The program is there and nothing else is to be done. */
async function ready(bench: Bench): Promise<void> {
  await bench.nth('process_started');
  await bench.until(() => bench.clock.waits(EVERY_MS));
}

async function beat(bench: Bench, count = 1): Promise<void> {
  bench.clock.push(EVERY_MS);
  await bench.nth('operator_turn_ended', count);
}

describe('a heartbeat', () => {
  it('comes at its interval, in a session of its own, and says nothing in any channel', async () => {
    const bench = openBench({ operator: BEATS });
    await ready(bench);
    bench.clock.push(EVERY_MS - 1);
    expect(bench.seen('operator_turn_started')).toEqual([]);
    bench.clock.push(1);
    expect(await bench.nth('operator_turn_ended')).toMatchObject({ source: 'heartbeat', outcome: 'end_turn' });
    await beat(bench, 2);
    await bench.hear(message());
    await bench.nth('turn_ended');
    expect(bench.answers).toEqual(['answer']);
    expect(bench.notices).toEqual([]);
    expect(bench.agent.snapshot()).toMatchObject({ operator: { turns: 2, skipped: 0, lastEnd: 'end_turn' }, processes: [{ sessions: 1 }] });
    // No turn of a channel is bound while it runs, and none is looked for afterwards.
    expect(bench.link.calls.filter((call) => call.startsWith('published'))).toHaveLength(1);
  });

  it('over twenty answered mentions answers none of them again; the next mention is answered', async () => {
    const bench = openBench({ operator: BEATS });
    await ready(bench);
    const mentions = Array.from({ length: 20 }, () => message());
    for (const [index, event] of mentions.entries()) {
      await bench.hear(event);
      await bench.nth('turn_ended', index + 1);
    }
    for (const count of [1, 2, 3]) await beat(bench, count);
    for (const event of mentions) await bench.hear(event);
    expect(bench.answers).toHaveLength(20);
    expect(bench.seen('turn_started')).toHaveLength(20);
    await bench.hear(message());
    await bench.nth('turn_ended', 21);
    expect(bench.answers).toHaveLength(21);
  });

  it('does not pile up while one runs, nor wait for its missed beats', async () => {
    const bench = openBench({ operator: BEATS, script: GATED });
    await ready(bench);
    bench.clock.push(EVERY_MS);
    await bench.nth('operator_turn_started');
    // The turn itself has a sign of life to give within its idle timeout.
    bench.clock.push(EVERY_MS);
    await bench.until(() => bench.agent.snapshot().operator?.skipped === 1);
    bench.openGate('beat');
    await bench.nth('operator_turn_ended');
    expect(bench.seen('operator_turn_started')).toHaveLength(1);
  });

  it('is skipped while messages wait, and they wait for one that is at work', async () => {
    const bench = openBench({ operator: BEATS, observation: OBSERVED, script: { rules: [{ match: 'look around', do: [AT_WORK, { wait: 'beat' }] }, { match: 'slow', do: [{ wait: 'go' }, { say: 'slow' }] }, ANSWER] } });
    await ready(bench);
    await bench.hear(message({ content: 'slow' }));
    await bench.nth('turn_started');
    await bench.hear(message());
    bench.clock.push(EVERY_MS);
    await bench.until(() => bench.agent.snapshot().operator?.skipped === 1);
    bench.openGate('go');
    await bench.nth('turn_ended', 2);
    bench.clock.push(EVERY_MS);
    await bench.until(() => isToolHeard(bench));
    await bench.hear(message());
    expect(bench.seen('turn_started')).toHaveLength(2);
    bench.openGate('beat');
    await bench.nth('turn_ended', 3);
    expect(bench.answers).toEqual(['slow', 'answer', 'answer']);
  });

  it('wakes an agent that sleeps, which then sleeps again', async () => {
    const bench = openBench({ operator: BEATS, rest: { lazy: true, sleepAfterMs: 10_000 } });
    await bench.until(() => bench.clock.waits(EVERY_MS));
    expect(bench.agent.snapshot().processes).toMatchObject([{ state: 'asleep' }]);
    await beat(bench);
    await bench.until(() => bench.clock.waits(10_000));
    bench.clock.push(10_000);
    await bench.nth('process_ended');
    expect(bench.agent.snapshot().operator).toMatchObject({ turns: 1, skipped: 0 });
  });

  it.each([['kept', 1], ['fresh', 2]] as const)('has a %s session: %i in two beats', async (session, count) => {
    const bench = openBench({ operator: { ...BEATS, session }, observation: OBSERVED });
    await ready(bench);
    await beat(bench, 1);
    await beat(bench, 2);
    const sessions = bench.link.told.filter(({ kind }) => kind === 'session_resolved').map(({ sessionId }) => sessionId);
    expect(new Set(sessions).size).toBe(count);
  });
});

describe('a heartbeat that holds the only process when a message comes', () => {
  const beatThat = (...steps: readonly object[]): { readonly rules: readonly object[] } => ({ rules: [{ match: 'look around', times: 1, do: [...steps, { mark: 'beats' }, { wait: 'beat' }] }, ANSWER] });

  async function beating(script: object, more: BenchOptions = {}): Promise<Bench> {
    const bench = openBench({ operator: BEATS, script, ...more });
    await ready(bench);
    bench.clock.push(EVERY_MS);
    await bench.until(() => bench.isMarked('beats'));
    return bench;
  }

  it('gives way while it is silent: the message has the process, and the beat comes again at its time', async () => {
    const bench = await beating(beatThat({ think: 'Hm.' }, { say: 'Let me see.' }));
    const event = message();
    await bench.hear(event);
    expect(await bench.nth('turn_ended')).toMatchObject({ outcome: 'end_turn' });
    expect(bench.seen('operator_turn_ended')).toMatchObject([{ outcome: 'gave_way' }]);
    expect(bench.answers).toEqual(['answer']);
    expect(bench.notices).toEqual([]);
    expect(bench.seen('process_started')).toHaveLength(1);
    expect(await bench.row(event)).toMatchObject({ status: 'done', attempts: 0, interrupted: 0 });
    expect(bench.agent.snapshot()).toMatchObject({ operator: { turns: 1, skipped: 0, lastEnd: 'gave_way' }, processes: [{ state: 'idle' }] });
    await beat(bench, 2);
    expect(bench.seen('operator_turn_ended')).toMatchObject([{ outcome: 'gave_way' }, { outcome: 'end_turn' }]);
  });

  it('gives way before its session is there', async () => {
    const bench = openBench({ operator: BEATS, script: beatThat() });
    await ready(bench);
    bench.clock.push(EVERY_MS);
    await bench.hear(message());
    await bench.nth('turn_ended');
    expect(bench.seen('operator_turn_ended')).toMatchObject([{ outcome: 'gave_way' }]);
    expect(bench.answers).toEqual(['answer']);
  });

  it('that does not heed the cancel has the grace; its process is replaced, and no program is blamed', async () => {
    const bench = await beating(beatThat({ ignoreCancel: true }));
    await bench.hear(message());
    await bench.until(() => bench.clock.waits(5_000));
    bench.clock.push(5_000);
    await bench.nth('turn_ended');
    expect(bench.answers).toEqual(['answer']);
    expect(bench.seen('operator_turn_ended')).toMatchObject([{ outcome: 'gave_way' }]);
    expect(bench.seen('process_ended')).toMatchObject([{ how: expect.stringContaining('stopped') }]);
    expect(bench.seen('process_failed')).toEqual([]);
  });

  it('is left to end once it has left something behind', async () => {
    const bench = await beating(beatThat());
    bench.link.traced = 1;
    await bench.hear(message());
    bench.clock.push(1_000);
    expect(bench.seen('turn_started')).toEqual([]);
    bench.openGate('beat');
    await bench.nth('turn_ended');
    expect(bench.seen('operator_turn_ended')).toMatchObject([{ outcome: 'end_turn' }]);
  });

  it('is left alone while a tool of it runs, and gives way when that has ended', async () => {
    const ended = { update: { sessionUpdate: 'tool_call_update', toolCallId: 't1', status: 'completed' } };
    const bench = await beating({ rules: [{ match: 'look around', do: [AT_WORK, { mark: 'beats' }, { wait: 'built' }, ended, { wait: 'beat' }] }, ANSWER] }, { observation: OBSERVED });
    await bench.until(() => isToolHeard(bench));
    await bench.hear(message());
    await bench.until(() => bench.clock.waits(1_000));
    bench.clock.push(1_000);
    await bench.until(() => bench.clock.waits(1_000));
    expect(bench.seen('turn_started')).toEqual([]);
    bench.openGate('built');
    await bench.until(() => {
      bench.clock.push(1_000);
      return bench.seen('turn_ended').length > 0;
    });
    expect(bench.seen('operator_turn_ended')).toMatchObject([{ outcome: 'gave_way' }]);
  });

  it('keeps its process where there is another', async () => {
    const bench = await beating(beatThat(), { processes: 2 });
    await bench.until(() => bench.agent.snapshot().processes.some(({ state }) => state === 'idle'));
    await bench.hear(message());
    await bench.nth('turn_ended');
    expect(bench.seen('operator_turn_ended')).toEqual([]);
  });

  it('waits for what is gathered, and gives way then', async () => {
    const bench = await beating(beatThat(), { gatherMs: 2_000 });
    await bench.hear(message({ tags: inThread(someRoot) }));
    await bench.until(() => bench.clock.waits(2_000));
    expect(bench.seen('operator_turn_ended')).toEqual([]);
    bench.clock.push(2_000);
    await bench.nth('turn_ended');
    expect(bench.seen('operator_turn_ended')).toMatchObject([{ outcome: 'gave_way' }]);
  });
});

describe('what the owner is told of a heartbeat', () => {
  it('is a turn of no channel, by its own source, with signs of life and an end', async () => {
    const bench = openBench({ operator: BEATS, script: GATED, observation: { livenessMs: 5_000, packed: false, program: { command: 'x', args: [] } } });
    await ready(bench);
    bench.clock.push(EVERY_MS);
    const { turnId } = await bench.nth('operator_turn_started');
    bench.clock.push(5_000);
    bench.openGate('beat');
    await bench.nth('operator_turn_ended');
    const told = bench.link.told.filter((frame) => frame.turnId === turnId && frame.kind !== 'acp_read' && frame.kind !== 'acp_write');
    expect(told.map(({ kind, channelId }) => [kind, channelId])).toEqual(
      ['turn_started', 'session_config_captured', 'session_resolved', 'prompt_context_delivery', 'turn_liveness', 'turn_completed'].map((kind) => [kind, undefined]),
    );
    expect(told[0]?.payload).toBe('{"source":"heartbeat","triggeringEventIds":[]}');
    bench.clock.push(5_000);
    expect(bench.link.told.filter(({ kind }) => kind === 'turn_liveness')).toHaveLength(1);
  });

  it('is its metric, in no channel', async () => {
    const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
    const bench = openBench({ operator: BEATS, script: { rules: [{ do: [{ say: 'x' }, { stop: { reason: 'end_turn', usage } }] }] } });
    await ready(bench);
    await beat(bench);
    expect(bench.link.metrics.map((text) => JSON.parse(text) as unknown)).toMatchObject([{ channelId: null, stopReason: 'end_turn' }]);
  });

  it('is that nobody was asked, and that it was denied', async () => {
    const bench = openBench({
      operator: BEATS, permission: { policy: 'ask', askMs: 300_000 }, observation: OBSERVED,
      script: { rules: [{ do: [{ ask: 'rm' }, { say: 'done' }] }] },
    });
    await ready(bench);
    await beat(bench);
    const asked = bench.link.told.find(({ authorization }) => authorization !== undefined);
    expect(asked?.authorization).toMatchObject({ actionable: false, reason: 'ask: a heartbeat turn' });
  });
});

describe('a heartbeat that goes wrong is over, and told in a word', () => {
  it.each([
    ['error', [{ error: { code: -32_603, message: 'no' } }]],
    ['process_ended', [{ die: 'SIGKILL' }]],
    ['max_tokens', [{ say: 'x' }, { stop: { reason: 'max_tokens' } }]],
  ])('%s', async (end, steps) => {
    const bench = openBench({ operator: BEATS, script: { rules: [{ match: 'look around', do: steps }, ANSWER] } });
    await ready(bench);
    await beat(bench);
    expect(bench.agent.snapshot().operator).toMatchObject({ turns: 1, lastEnd: end });
    expect(bench.link.said).toEqual([]);
    await bench.until(() => bench.clock.waits(EVERY_MS));
    expect(bench.seen('operator_turn_started')).toHaveLength(1);
  });

  it('idle_timeout, and its process is replaced', async () => {
    const bench = openBench({ operator: { ...BEATS, heartbeat: { everyMs: 10 * IDLE_MS, prompt: 'look around' } }, script: { rules: [{ do: [{ hang: true }] }] } });
    await bench.nth('process_started');
    await bench.until(() => bench.clock.waits(10 * IDLE_MS));
    bench.clock.push(10 * IDLE_MS);
    await bench.nth('operator_turn_started');
    bench.clock.push(IDLE_MS);
    expect(await bench.nth('operator_turn_ended')).toMatchObject({ outcome: 'idle_timeout' });
    await bench.nth('process_started', 2);
  });

  it('a stop in the middle of it', async () => {
    const bench = openBench({ operator: BEATS, script: GATED });
    await ready(bench);
    bench.clock.push(EVERY_MS);
    await bench.nth('operator_turn_started');
    const stopped = bench.agent.stop(5_000);
    bench.clock.push(5_000);
    await stopped;
    expect(bench.seen('operator_turn_ended')).toMatchObject([{ outcome: 'cancelled' }]);
  });
});

describe('the initial prompt', () => {
  it('is the first turn, before a message that waits, once a start', async () => {
    const bench = openBench({ operator: INITIAL });
    await bench.hear(message());
    await bench.nth('turn_ended');
    const order = bench.notes.flatMap(({ type }) => (type.endsWith('turn_started') ? [type] : []));
    expect(order).toEqual(['operator_turn_started', 'turn_started']);
    await bench.agent.stop(0);
    const again = openBench({ operator: INITIAL, store: bench.store });
    await again.nth('operator_turn_ended');
    expect(again.agent.snapshot().operator).toMatchObject({ turns: 1, lastEnd: 'end_turn' });
  });

  it('waits for the relay, and so do the messages behind it', async () => {
    const bench = openBench({ operator: INITIAL });
    bench.link.phase = 'waiting';
    await bench.nth('process_started');
    await bench.hear(message());
    bench.link.phase = 'ready';
    await bench.until(() => bench.clock.waits(1_000));
    bench.clock.push(1_000);
    await bench.nth('turn_ended');
    expect(bench.seen('operator_turn_ended')).toHaveLength(1);
  });

  it('waits while the provider takes no more requests, and so do the messages behind it', async () => {
    const first = openBench({ script: { rules: [{ do: [{ error: { code: 429, message: 'overloaded' } }] }] } });
    await first.hear(message());
    await first.nth('turn_ended');
    await first.agent.stop(0);
    const second = openBench({ operator: ONCE, store: first.store });
    await second.until(() => second.clock.waits(1_000) || second.seen('operator_turn_started').length > 0);
    second.clock.push(60_000);
    expect(second.seen('operator_turn_started')).toEqual([]);
    second.clock.push(30_000);
    await second.nth('turn_ended');
    expect(second.seen('operator_turn_ended')).toMatchObject([{ outcome: 'end_turn' }]);
    expect(second.answers).toEqual(['answer']);
  });

  it('that is for once is given once on a data directory', async () => {
    const first = openBench({ operator: ONCE });
    await first.nth('operator_turn_ended');
    await first.agent.stop(0);
    const second = openBench({ operator: ONCE, store: first.store });
    await second.hear(message());
    await second.nth('turn_ended');
    expect(second.seen('operator_turn_started')).toEqual([]);
  });

  it('that is for once and could not be sent is given at the next start', async () => {
    const first = openBench({ operator: ONCE, script: { newSession: { error: { code: -32_603, message: 'not now' } }, rules: [ANSWER] } });
    await first.nth('operator_turn_ended');
    expect(first.agent.snapshot().operator).toMatchObject({ lastEnd: 'session_error' });
    await first.agent.stop(0);
    const second = openBench({ operator: ONCE, store: first.store });
    expect(await second.nth('operator_turn_ended')).toMatchObject({ outcome: 'end_turn' });
  });
});
