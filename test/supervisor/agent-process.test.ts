/** The driver of an agent and its processes on their bad days: what is revoked, replaced, kept, told and given up. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../setup/temp.ts';
import { USAGE_BY_LOOKING } from '../../adapters/index.ts';
import { MAX_ATTEMPTS } from '../../src/supervisor/inbox/entry.ts';
import { HARD_MS, IDLE_MS, openBench } from './bench.ts';
import type { Bench } from './bench.ts';
import { channel, message } from './people.ts';

const ANSWER = { do: [{ say: 'answer' }] };
const FRESH = { unless: { merge_disposition: 'continue_prior_work' } };
const LOGGED_OUT = { error: { code: -32_000, message: 'Authentication required' } };
/** Longer than the wait before a first retry and before a second start of the program. */
const RETRY_MS = 7_000;
/** How long the program is given to open a session. */
const SESSION_NEW_MS = 60_000;
/** How long a program that cannot be started is left alone. */
const BROKEN_MS = 300_000;
/** How long a process must live that is started after that. */
const PROOF_MS = 10_000;

function pids(bench: Bench): readonly number[] {
  return bench.seen('turn_started').map(({ pid }) => pid);
}

describe('a process that ends in mid-turn', () => {
  it('loses its credential before anyone asks whether the turn was answered', async () => {
    const bench = openBench({ script: { rules: [{ ...FRESH, do: [{ die: 'SIGKILL' }] }, ANSWER] } });
    await bench.hear(message());
    const { turnId, outcome } = await bench.nth('turn_ended');
    expect(outcome).toBe('process_ended');
    const asked = bench.link.calls.indexOf(`published ${turnId}`);
    expect(bench.link.calls.slice(0, asked)).toContain('close s1');
    bench.clock.push(RETRY_MS);
    await bench.nth('turn_ended', 2);
    expect(bench.answers).toEqual(['answer']);
    expect(new Set(pids(bench)).size).toBe(2);
  });

  it('is started again as often as turns in between go well', async () => {
    const bench = openBench({ script: { rules: [{ ...FRESH, do: [{ die: 'SIGKILL' }] }, ANSWER] } });
    for (let crash = 1; crash <= 3; crash += 1) {
      await bench.hear(message());
      await bench.nth('process_ended', crash);
      await bench.nth('turn_ended', 2 * crash - 1);
      bench.clock.push(RETRY_MS);
      await bench.nth('turn_ended', 2 * crash);
    }
    expect(bench.answers).toHaveLength(3);
    expect(bench.notices).toEqual([]);
  });

  it('three times in a minute, with no good turn between, is not started again for a while', async () => {
    const bench = openBench({ script: { rules: [{ do: [{ die: 'SIGKILL' }] }] } });
    for (let crash = 1; crash <= 3; crash += 1) {
      await bench.hear(message());
      await bench.nth('turn_ended', crash);
      await bench.nth('process_ended', crash);
      bench.clock.push(2 * RETRY_MS);
    }
    await bench.until(() => bench.agent.snapshot().processes[0]?.state === 'broken');
    expect(bench.notices).toEqual([expect.stringContaining('keeps ending')]);
  });
});

describe('a process whose turn was ended for it', () => {
  it('is silent too long: it is revoked and replaced, and the message comes back', async () => {
    const bench = openBench({ script: { rules: [{ ...FRESH, do: [{ hang: true }] }, ANSWER] } });
    await bench.hear(message());
    const { turnId } = await bench.nth('turn_started');
    bench.clock.push(IDLE_MS);
    expect(await bench.nth('turn_ended')).toMatchObject({ outcome: 'idle_timeout' });
    expect(bench.link.calls.slice(0, bench.link.calls.indexOf(`published ${turnId}`))).toContain('close s1');
    bench.clock.push(RETRY_MS);
    await bench.nth('turn_ended', 2);
    expect(bench.answers).toEqual(['answer']);
    expect(new Set(pids(bench)).size).toBe(2);
    expect(bench.seen('turn_started').map(({ interrupted }) => interrupted)).toEqual([false, true]);
  });

  it('was in a channel that the agent left: the turn is cut short, its events are dead, nothing is said', async () => {
    const bench = openBench({ script: { rules: [{ match: 'hang', do: [{ hang: true }] }, ANSWER] } });
    const [flying, waiting] = [message({ content: 'hang' }), message()];
    await bench.hear(flying);
    await bench.nth('turn_started');
    await bench.hear(waiting);
    await bench.link.give({ type: 'left', channelId: channel });
    expect(await bench.nth('turn_ended')).toMatchObject({ outcome: 'cancelled' });
    for (const event of [flying, waiting]) expect(await bench.row(event)).toMatchObject({ status: 'dead' });
    await bench.link.give({ type: 'joined', channelId: channel });
    await bench.hear(message());
    await bench.nth('turn_ended', 2);
    expect(bench.link.said.map(({ content }) => content)).toEqual(['answer']);
  });
});

/** Every session of it has the same id. */
function knowsOneSession(): string {
  const file = join(temporaryDirectory(), 'knows-one-session.mjs');
  writeFileSync(file, `#!${process.execPath}
import { createInterface } from 'node:readline';
const write = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }));
for await (const line of createInterface(process.stdin)) {
  const { id, method } = JSON.parse(line);
  if (method === 'initialize') write({ id, result: { protocolVersion: 1 } });
  if (method === 'session/new') write({ id, result: { sessionId: 'main' } });
  if (method !== 'session/prompt') continue;
  const content = { type: 'text', text: 'answer' };
  write({ method: 'session/update', params: { sessionId: 'main', update: { sessionUpdate: 'agent_message_chunk', content } } });
  write({ id, result: { stopReason: 'end_turn' } });
}
`);
  chmodSync(file, 0o755);
  return file;
}

describe('a program that opens no session', () => {
  it('because it knows one id alone: another process has it to give, and nobody is blamed', async () => {
    const bench = openBench({ script: { rules: [{ do: [{ die: 'SIGKILL' }] }] }, session: 'thread' });
    bench.command = knowsOneSession();
    process.kill((await bench.nth('process_started')).pid, 'SIGKILL');
    await bench.nth('process_ended');
    bench.clock.push(RETRY_MS);
    await bench.nth('process_started', 2);
    for (let thread = 1; thread <= 4; thread += 1) {
      await bench.hear(message());
      await bench.until(() => bench.agent.snapshot().inbox.dispatched === 0);
      bench.clock.push(RETRY_MS);
      await bench.until(() => bench.answers.length === thread);
    }
    expect(new Set(pids(bench)).size).toBe(4);
    expect(bench.notices).toEqual([]);
    expect(bench.agent.snapshot().processes).toMatchObject([{ lastEnd: 'stopped' }]);
  });

  it('never answers: it is replaced, and another gets the message', async () => {
    const bench = openBench({ script: { newSession: { never: true }, rules: [] } });
    const { pid } = await bench.nth('process_started');
    await bench.hear(message());
    bench.play({ rules: [ANSWER] });
    await bench.until(() => bench.clock.waits(SESSION_NEW_MS));
    bench.clock.push(SESSION_NEW_MS);
    expect(await bench.nth('turn_ended')).toMatchObject({ outcome: 'session_timeout' });
    await bench.nth('process_ended');
    bench.clock.push(RETRY_MS);
    await bench.nth('turn_ended', 2);
    expect(bench.answers).toEqual(['answer']);
    expect(bench.seen('turn_started')).toHaveLength(1);
    expect(pids(bench)).not.toContain(pid);
  });

  it('says why: the log has its words', async () => {
    const bench = openBench({ script: { newSession: { error: { code: 507, message: 'the disk is full' } }, rules: [] } });
    await bench.hear(message());
    expect(await bench.nth('turn_ended')).toMatchObject({ outcome: 'session_error', reason: 'error 507: the disk is full' });
  });

  it('is not logged in: the message is dead at once, and its thread is told', async () => {
    const bench = openBench({ script: { newSession: LOGGED_OUT, rules: [] } });
    const question = message();
    await bench.hear(question);
    await bench.nth('turn_ended');
    expect(await bench.row(question)).toMatchObject({ status: 'dead', attempts: 0 });
    expect(bench.notices).toEqual(['⚠️ This message could not be answered: the agent program is not logged in.']);
    expect(bench.link.said[0]).toMatchObject({ replyTo: { root: question.id, parent: question.id } });
    expect(bench.seen('gave_up')).toMatchObject([{ eventIds: [question.id] }]);
  });
});

describe('a turn that fails', () => {
  const failing = { sessionUpdate: 'session_info_update', _meta: { state: 'failed' } };
  const failureSigns = [{ update: 'session_info_update', path: ['_meta', 'state'], value: 'failed' }];

  it('is logged with the words of the error, and never with those of its answer', async () => {
    const bench = openBench({
      script: { rules: [{ match: 'first', do: [{ say: 'half' }, { error: { code: 400, message: 'the model is overfed' } }] }, { do: [{ say: 'my answer' }, { update: failing }] }] },
      session: 'thread', dialect: { standing: 'capability', usage: USAGE_BY_LOOKING, failureSigns },
    });
    await bench.hear(message({ content: 'first' }));
    expect(await bench.nth('turn_ended')).toMatchObject({ outcome: 'error', reason: 'error 400: the model is overfed' });
    await bench.hear(message());
    const { outcome, reason } = await bench.nth('turn_ended', 2);
    expect({ outcome, reason }).toEqual({ outcome: 'error', reason: undefined });
  });
});

describe('a message that fails again and again', () => {
  it(`is given up after ${MAX_ATTEMPTS} retries in one process, and told once`, async () => {
    const bench = openBench({ script: { rules: [{ do: [{ error: { code: -32_603, message: 'no' } }] }] } });
    await bench.hear(message());
    for (let turn = 1; turn <= MAX_ATTEMPTS; turn += 1) {
      await bench.nth('turn_ended', turn);
      bench.clock.push(HARD_MS);
    }
    await bench.nth('gave_up');
    await bench.nth('turn_ended', MAX_ATTEMPTS + 1);
    expect(bench.notices).toEqual(['⚠️ This message could not be answered: gave up after 10 retries: the agent answered with error -32603.']);
    expect(new Set(pids(bench)).size).toBe(1);
  });
});

describe('a program that cannot be started', () => {
  it('is told once an outage, in the thread of the message that waits longest', async () => {
    const bench = openBench();
    const { pid } = await bench.nth('process_started');
    bench.command = '/nowhere/agent';
    process.kill(pid, 'SIGKILL');
    await bench.nth('process_ended');
    const first = message();
    await bench.hear(first);
    await bench.hear(message());
    bench.clock.push(RETRY_MS);
    await bench.nth('process_failed', 1);
    bench.clock.push(BROKEN_MS);
    await bench.nth('process_failed', 2);
    await bench.hear(message());
    expect(bench.notices).toEqual([expect.stringContaining('cannot be started (not found)')]);
    expect(bench.link.said[0]).toMatchObject({ replyTo: { parent: first.id } });

    bench.command = process.execPath;
    bench.clock.push(BROKEN_MS);
    await bench.nth('process_started', 2);
    // It has to live for a while before it is given anything.
    expect(bench.agent.snapshot().processes).toMatchObject([{ state: 'starting' }]);
    expect(bench.seen('turn_started')).toHaveLength(0);
    bench.clock.push(PROOF_MS);
    await bench.nth('turn_ended', 3);
    expect(bench.answers).toHaveLength(3);

    bench.command = '/nowhere/agent';
    process.kill(bench.agent.snapshot().processes[0]?.pid ?? 0, 'SIGKILL');
    await bench.nth('process_ended', 2);
    await bench.hear(message());
    bench.clock.push(RETRY_MS);
    await bench.nth('process_failed', 3);
    expect(bench.notices).toHaveLength(2);
  });
});
