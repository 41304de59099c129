/** What an owner orders by control frames, done to real agent processes. */
import { describe, expect, it } from 'vitest';
import { silentLog } from '../../src/model/index.ts';
import { openBench } from './bench.ts';
import { ANSWER, answered, HOLD, holding, MODEL_MS, MODELS, nthResult, OPTIONS, order, results, running, TOOL, whileStopped } from './orders.ts';
import { agent, channel, inThread, message, otherChannel, someRoot } from './people.ts';

describe('cancel_turn', () => {
  it.each(['hold', 'tool'])('ends the turn (%s) and drops its messages; the agent goes on, in the same session', async (content) => {
    const bench = openBench({ script: { rules: [HOLD, TOOL, ANSWER] } });
    const before = message({ content: 'before' });
    await bench.hear(before);
    await bench.nth('turn_ended');
    const event = await running(bench, content, 2);
    order(bench, 'cancel_turn');
    expect(await nthResult(bench, 1)).toEqual({ type: 'cancel_turn', status: 'sent' });
    expect(bench.link.told[0]).toMatchObject({ kind: 'control_result', channelId: channel, rank: 'lifecycle' });
    expect(await bench.nth('turn_ended', 2)).toMatchObject({ outcome: 'cancelled' });
    expect(await bench.row(event)).toMatchObject({ status: 'done' });
    await bench.hear(message({ content: 'after' }));
    await bench.nth('turn_ended', 3);
    const [first, last, ...more] = answered(bench);
    expect(more).toEqual([]);
    expect([first?.content, last?.content]).toEqual(['before', 'after']);
    expect(last?.session).toBe(first?.session);
    expect(bench.notices).toEqual([]);
    expect(bench.seen('process_started')).toHaveLength(1);
  });

  it('says that there is none: before, after, elsewhere, and while it is being cancelled', async () => {
    const bench = openBench({ script: { rules: [{ match: 'deaf', do: [{ ignoreCancel: true }, { hang: true }] }, ANSWER] } });
    await bench.hear(message());
    await bench.nth('turn_ended');
    order(bench, 'cancel_turn');
    await running(bench, 'deaf', 2);
    order(bench, 'cancel_turn', { channelId: otherChannel });
    order(bench, 'cancel_turn');
    order(bench, 'cancel_turn');
    await nthResult(bench, 4);
    expect(results(bench).map((one) => (one as { readonly status: string }).status)).toEqual(['no_active_turn', 'no_active_turn', 'sent', 'no_active_turn']);
    bench.agent.force();
  });

  it('of an agent that does not heed it ends its process; what waits is answered by another', async () => {
    const bench = openBench({ script: { rules: [{ match: 'deaf', do: [{ ignoreCancel: true }, { hang: true }] }, ANSWER] } });
    await running(bench, 'deaf');
    await bench.hear(message({ content: 'after' }));
    order(bench, 'cancel_turn');
    await nthResult(bench, 1);
    // The grace of a cancel, of stdin and of SIGTERM.
    for (const graceMs of [5_000, 3_000, 3_000]) {
      await bench.until(() => bench.clock.waits(graceMs) || bench.seen('process_ended').length > 0);
      bench.clock.push(graceMs);
    }
    await bench.nth('process_ended');
    bench.clock.push(10_000);
    await bench.nth('turn_ended', 2);
    expect(answered(bench).map(({ content }) => content)).toEqual(['after']);
  });

  it('ends every turn of the channel where each thread has its own', async () => {
    const bench = openBench({ script: { rules: [HOLD, ANSWER] }, session: 'thread', processes: 2 });
    await bench.until(() => bench.agent.snapshot().processes.every(({ state }) => state === 'idle'));
    await running(bench, 'hold');
    await bench.hear(message({ content: 'hold', tags: inThread(someRoot) }));
    await bench.nth('turn_started', 2);
    order(bench, 'cancel_turn');
    expect(await nthResult(bench, 1)).toEqual({ type: 'cancel_turn', status: 'sent' });
    await bench.nth('turn_ended', 2);
    expect(bench.agent.snapshot().inbox).toEqual({ queued: 0, dispatched: 0, done: 2, dead: 0 });
  });

  it('of a turn whose session never opens does not hold up a stop', async () => {
    const bench = openBench();
    const pid = await bench.until(() => bench.agent.snapshot().processes.find(({ state }) => state === 'idle')?.pid);
    let stopped: Promise<void> | undefined;
    await whileStopped(pid, async () => {
      await bench.hear(message());
      await bench.until(() => bench.agent.snapshot().turns.length > 0);
      order(bench, 'cancel_turn');
      expect(await nthResult(bench, 1)).toMatchObject({ status: 'sent' });
      stopped = bench.agent.stop(0);
      // The process is being ended, and nobody waits for its session any more.
      await bench.until(() => bench.link.calls.includes('close s1'));
    });
    await stopped;
    expect(bench.agent.snapshot().inbox).toEqual({ queued: 0, dispatched: 0, done: 1, dead: 0 });
  });

  it('is not undone by a new start', async () => {
    const first = openBench({ script: { rules: [HOLD] } });
    const event = await running(first, 'hold');
    order(first, 'cancel_turn');
    await nthResult(first, 1);
    await first.agent.stop(0);
    const second = openBench({ store: first.store, script: { rules: [ANSWER] } });
    await second.hear(event);
    await second.hear(message({ content: 'control' }));
    await second.nth('turn_ended');
    expect(answered(second).map(({ content }) => content)).toEqual(['control']);
  });
});

describe('switch_model', () => {
  it.each([['a list of models', MODELS], ['a configuration option', OPTIONS]])('in mid-turn, with %s: cancels, prompts again with the model, and tells twice', async (_, offer) => {
    const bench = openBench({ script: { newSession: offer, rules: [{ ...HOLD, unless: { merge_disposition: 'continue_prior_work' } }, ANSWER] } });
    const event = await running(bench, 'hold');
    order(bench, 'switch_model', { modelId: 'large', requestId: 'r1' });
    expect(await nthResult(bench, 2)).toEqual({ type: 'switch_model', status: 'switched', modelId: 'large', requestId: 'r1' });
    expect(results(bench)[0]).toEqual({ type: 'switch_model', status: 'sent', modelId: 'large', requestId: 'r1' });
    await bench.nth('turn_ended', 2);
    expect(answered(bench)).toMatchObject([{ content: 'hold', model: 'large' }]);
    expect(await bench.row(event)).toMatchObject({ status: 'done', attempts: 0, interrupted: 1 });
    await bench.hear(message({ content: 'again' }));
    await bench.nth('turn_ended', 3);
    expect(answered(bench)[1]).toMatchObject({ content: 'again', model: 'large' });
    expect(results(bench)).toHaveLength(2);
  });

  it('in mid-turn to a model that there is not: the message is answered with the agent’s own', async () => {
    const bench = openBench({ script: { newSession: MODELS, rules: [{ ...HOLD, unless: { merge_disposition: 'continue_prior_work' } }, ANSWER] } });
    await running(bench, 'hold');
    order(bench, 'switch_model', { modelId: 'huge' });
    expect(await nthResult(bench, 2)).toEqual({ type: 'switch_model', status: 'unsupported_model', modelId: 'huge', requestId: null });
    await bench.nth('turn_ended', 2);
    expect(answered(bench)).toMatchObject([{ content: 'hold', model: 'small' }]);
  });

  it('while a turn is being ended already does not land', async () => {
    const bench = openBench({ script: { newSession: MODELS, onCancel: { do: [{ wait: 'go' }] }, rules: [HOLD, ANSWER] } });
    await running(bench, 'hold');
    order(bench, 'cancel_turn');
    order(bench, 'switch_model', { modelId: 'large' });
    expect(await nthResult(bench, 2)).toMatchObject({ type: 'switch_model', status: 'turn_ending' });
    bench.openGate('go');
    await bench.hear(message({ content: 'after' }));
    await bench.nth('turn_ended', 2);
    expect(answered(bench)).toMatchObject([{ content: 'after', model: 'small' }]);
  });

  it('between turns: at once in the session that is there, or not at all', async () => {
    const bench = openBench({ script: { newSession: OPTIONS, rules: [ANSWER] } });
    await bench.hear(message({ content: 'one' }));
    await bench.nth('turn_ended');
    order(bench, 'switch_model', { modelId: 'huge' });
    expect(await nthResult(bench, 1)).toMatchObject({ status: 'unsupported_model' });
    order(bench, 'switch_model', { modelId: 'large' });
    expect(await nthResult(bench, 2)).toMatchObject({ status: 'switched', modelId: 'large' });
    await bench.hear(message({ content: 'two' }));
    await bench.nth('turn_ended', 2);
    const [one, two] = answered(bench);
    expect([one?.model, two?.model]).toEqual(['small', 'large']);
    expect(two?.session).toBe(one?.session);
  });

  it('between turns is a use of the session: it is not closed as idle meanwhile, and has its whole time after it', async () => {
    const idleMs = 30_000;
    const isWritten = (method: string) => (): boolean => bench.link.told.some(({ kind, payload }) => kind === 'acp_write' && payload.includes(method));
    const open = (): number | undefined => bench.agent.snapshot().processes[0]?.sessions;
    const bench = openBench({
      sessionIdleMs: idleMs, observation: { livenessMs: 600_000, packed: false, program: { command: 'x', args: [] } },
      script: { newSession: MODELS, sessions: { close: true }, rules: [ANSWER] },
    });
    await bench.hear(message({ content: 'one' }));
    await bench.nth('turn_ended');
    bench.clock.push(idleMs - 1);
    const { pid } = await bench.nth('process_started');
    process.kill(pid, 'SIGSTOP');
    order(bench, 'switch_model', { modelId: 'large' });
    await bench.until(isWritten('session/set_model'));
    bench.clock.push(1);
    expect([open(), isWritten('session/close')()]).toEqual([1, false]);
    process.kill(pid, 'SIGCONT');
    expect(await nthResult(bench, 1)).toMatchObject({ status: 'switched' });
    bench.clock.push(idleMs - 1);
    expect(open()).toBe(1);
    bench.clock.push(1);
    await bench.until(isWritten('session/close'));
    expect(open()).toBe(0);
  });

  it('where the agent will not have it is unsupported', async () => {
    const answers = { 'session/set_model': { error: { code: -32_602, message: 'not today' } } };
    const bench = openBench({ script: { newSession: MODELS, answers, rules: [ANSWER] } });
    await bench.hear(message());
    await bench.nth('turn_ended');
    order(bench, 'switch_model', { modelId: 'large' });
    expect(await nthResult(bench, 1)).toMatchObject({ status: 'unsupported_model' });
  });

  it('of an agent that offers none is unsupported', async () => {
    const bench = openBench({ script: { rules: [ANSWER] } });
    await bench.hear(message());
    await bench.nth('turn_ended');
    order(bench, 'switch_model', { modelId: 'large' });
    expect(await nthResult(bench, 1)).toMatchObject({ status: 'unsupported_model' });
  });

  it('without a session is for the next one, once it is known what the program offers', async () => {
    const bench = openBench({ script: { newSession: MODELS, rules: [ANSWER] } });
    await bench.until(() => bench.agent.snapshot().processes[0]?.state === 'idle');
    order(bench, 'switch_model', { modelId: 'large' });
    expect(await nthResult(bench, 1)).toMatchObject({ status: 'no_active_turn' });
    await bench.hear(message({ content: 'one' }));
    await bench.nth('turn_ended');
    order(bench, 'switch_model', { modelId: 'huge', channelId: otherChannel });
    order(bench, 'switch_model', { modelId: 'large', channelId: otherChannel });
    await nthResult(bench, 3);
    expect(results(bench).slice(1)).toMatchObject([{ status: 'unsupported_model' }, { status: 'switched' }]);
    await bench.hear(message({ content: 'two', tags: [['h', otherChannel], ['p', agent.pubkey]] }));
    await bench.hear(message({ content: 'three' }));
    await bench.nth('turn_ended', 3);
    expect(answered(bench)).toMatchObject([{ model: 'small' }, { content: 'two', model: 'large' }, { content: 'three', model: 'small' }]);
  });

  it('between turns holds for a turn that begins meanwhile in another process', async () => {
    const bench = openBench({ script: { newSession: MODELS, rules: [ANSWER] }, processes: 2 });
    await bench.until(() => bench.agent.snapshot().processes.every(({ state }) => state === 'idle'));
    await bench.hear(message({ content: 'one' }));
    await bench.nth('turn_ended');
    const pid = holding(bench);
    await whileStopped(pid, async () => {
      order(bench, 'switch_model', { modelId: 'large' });
      await bench.until(() => bench.agent.snapshot().processes.some(({ state }) => state === 'busy'));
      await bench.hear(message({ content: 'two' }));
      await bench.nth('turn_ended', 2);
      expect(answered(bench)[1]).toMatchObject({ content: 'two', model: 'large' });
      expect(results(bench)).toEqual([]);
    });
    expect(await nthResult(bench, 1)).toMatchObject({ status: 'switched' });
  });

  it('that a process does not answer while it is in a turn of another channel costs nobody that turn', async () => {
    const bench = openBench({ script: { newSession: MODELS, rules: [{ match: 'hold', do: [{ mark: 'holding' }, { wait: 'go' }, { say: 'held' }] }, ANSWER] } });
    await bench.hear(message({ content: 'one' }));
    await bench.nth('turn_ended');
    await bench.hear(message({ content: 'hold', tags: [['h', otherChannel], ['p', agent.pubkey]] }));
    await bench.nth('turn_started', 2);
    const pid = holding(bench);
    await whileStopped(pid, async () => {
      order(bench, 'switch_model', { modelId: 'large' });
      await bench.until(() => bench.clock.waits(MODEL_MS));
      bench.clock.push(MODEL_MS);
      expect(await nthResult(bench, 1)).toMatchObject({ status: 'sent' });
    });
    bench.openGate('go');
    expect(await bench.nth('turn_ended', 2)).toMatchObject({ outcome: 'end_turn' });
    await bench.hear(message({ content: 'two' }));
    expect(await nthResult(bench, 2)).toMatchObject({ status: 'switched' });
    await bench.nth('turn_ended', 3);
    expect(answered(bench).at(-1)).toMatchObject({ content: 'two', model: 'large' });
    expect(bench.seen('process_started')).toHaveLength(1);
  });

  it('outlives the process', async () => {
    const bench = openBench({ script: { newSession: MODELS, rules: [{ match: 'die', unless: { merge_disposition: 'continue_prior_work' }, do: [{ die: 'SIGKILL' }] }, ANSWER] } });
    await bench.hear(message({ content: 'one' }));
    await bench.nth('turn_ended');
    order(bench, 'switch_model', { modelId: 'large' });
    await nthResult(bench, 1);
    await bench.hear(message({ content: 'die' }));
    await bench.nth('turn_ended', 2);
    await bench.nth('process_ended');
    bench.clock.push(7_000);
    await bench.nth('turn_ended', 3);
    expect(answered(bench)[1]).toMatchObject({ content: 'die', model: 'large' });
    expect(results(bench)).toHaveLength(1);
  });
});

describe('other frames', () => {
  it('a decision that nobody waits for is told so; what is not understood is not answered', async () => {
    const bench = openBench();
    order(bench, 'reboot');
    order(bench, 'cancel_turn', { channelId: 'general' });
    order(bench, 'permission_decision', { requestNonce: 'n', optionId: 'o' });
    expect(await nthResult(bench, 1)).toEqual({ type: 'permission_decision', status: 'no_active_turn', requestNonce: 'n', optionId: 'o' });
    expect(results(bench)).toHaveLength(1);
  });
});

describe('a log at info', () => {
  it('tells that there was an order, and nothing of what was sealed', async () => {
    const lines: string[] = [];
    const bench = openBench({ log: { ...silentLog, info: (text, fields) => { lines.push(JSON.stringify([text, fields])); } } });
    order(bench, 'cancel_turn');
    await nthResult(bench, 1);
    expect(lines).toEqual([expect.stringContaining('the owner orders')]);
    for (const secret of ['cancel_turn', channel]) expect(lines.join()).not.toContain(secret);
  });
});
