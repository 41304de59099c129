/** What an owner orders, by control frame and in chat, done to real agent processes. */
import { describe, expect, it } from 'vitest';
import type { ControlFrame } from '../../src/broker/index.ts';
import { eventId, seconds } from '../../src/model/index.ts';
import type { VerifiedEvent } from '../../src/nostr/index.ts';
import { openBench } from './bench.ts';
import type { Bench } from './bench.ts';
import { agent, channel, friend, inThread, message, otherChannel, owner, someRoot } from './people.ts';

const AT = seconds(1_700_000_000);
const HOLD = { match: 'hold', do: [{ say: 'half an answer' }, { mark: 'holding' }, { hang: true }] };
const TOOL = { match: 'tool', do: [{ tool: { title: 'Dig', updates: [{ status: 'in_progress' }] } }, { hang: true }] };
const ANSWER = { do: [{ say: '{{content}} by {{model}}, {{session}}' }] };
const MODELS = { models: { currentModelId: 'small', availableModels: [{ modelId: 'small' }, { modelId: 'large' }] } };
const OPTIONS = {
  configOptions: [{ id: 'model', category: 'model', type: 'select', name: 'Model', currentValue: 'small', options: [{ value: 'small', name: 'S' }, { value: 'large', name: 'L' }] }],
};

let frames = 0;

function order(bench: Bench, type: string, more: Readonly<Record<string, unknown>> = {}): void {
  frames += 1;
  const frame: ControlFrame = {
    eventId: eventId(frames.toString(16).padStart(64, '0')), sender: owner.pubkey, agent: agent.pubkey, createdAt: AT, receivedAt: AT,
    type, body: { type, channelId: channel, ...more },
  };
  bench.link.order(frame);
}

function results(bench: Bench): readonly unknown[] {
  return bench.link.told.filter(({ kind }) => kind === 'control_result').map(({ payload }) => JSON.parse(payload) as unknown);
}

async function nthResult(bench: Bench, count: number): Promise<unknown> {
  return bench.until(() => results(bench)[count - 1]);
}

function reports(bench: Bench): readonly unknown[] {
  return bench.link.reports.map(({ content }) => JSON.parse(content) as unknown);
}

/** Answered text as `content`, `model` and `session`. */
function answered(bench: Bench): readonly { readonly content: string; readonly model: string; readonly session: string }[] {
  return bench.answers.map((text) => {
    const [, content = '', model = '', session = ''] = /^(.*) by (.*), (.*)$/s.exec(text) ?? [];
    return { content, model, session };
  });
}

async function running(bench: Bench, content: string, count = 1): Promise<VerifiedEvent> {
  const event = message({ content });
  await bench.hear(event);
  await bench.nth('turn_started', count);
  return event;
}

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

describe('a command in chat', () => {
  it('!cancel ends the turn of its channel and is never prompted, however often it comes', async () => {
    const bench = openBench({ script: { rules: [HOLD, ANSWER] } });
    const event = await running(bench, 'hold');
    const command = message({ content: ' !cancel\n' });
    await bench.hear(command);
    await bench.nth('turn_ended');
    expect(reports(bench)).toEqual([{ type: 'owner_command', command: '!cancel', status: 'sent' }]);
    expect(bench.link.reports[0]).toMatchObject({ commandId: command.id, channelId: channel });
    expect(await bench.row(event)).toMatchObject({ status: 'done' });
    expect(await bench.row(command)).toMatchObject({ status: 'done' });
    await running(bench, 'hold on', 2);
    await bench.hear(command);
    await bench.hear(message({ content: 'control' }));
    expect(bench.seen('turn_ended')).toHaveLength(1);
    expect(reports(bench)).toHaveLength(1);
    await bench.agent.stop(0);
    const second = openBench({ store: bench.store, script: { rules: [{ match: 'hold', do: [{ say: 'came back' }] }, ANSWER] } });
    await second.hear(command);
    await second.nth('turn_ended', 2);
    expect(reports(second)).toEqual([]);
  });

  it('!cancel says that there is nothing to end', async () => {
    const bench = openBench();
    await bench.hear(message({ content: '!cancel' }));
    expect(reports(bench)).toEqual([{ type: 'owner_command', command: '!cancel', status: 'no_active_turn' }]);
  });

  it('!rotate ends it too, and what comes next is in a session of its own', async () => {
    const bench = openBench({ script: { rules: [HOLD, ANSWER] } });
    for (const content of ['one', 'two']) await bench.hear(message({ content }));
    await bench.nth('turn_ended', 2);
    await running(bench, 'hold', 3);
    await bench.hear(message({ content: '!rotate' }));
    await bench.nth('turn_ended', 3);
    expect(reports(bench)).toEqual([{ type: 'owner_command', command: '!rotate', status: 'rotated' }]);
    await bench.hear(message({ content: 'three' }));
    await bench.nth('turn_ended', 4);
    const [one, two, three] = answered(bench);
    expect(two?.session).toBe(one?.session);
    expect(three?.session).not.toBe(one?.session);
    expect(bench.seen('process_started')).toHaveLength(1);
  });

  it('!shutdown asks for the end of the agent, and of no turn', async () => {
    const bench = openBench({ script: { rules: [{ match: 'hold', do: [{ wait: 'go' }, { say: 'done' }] }] } });
    await running(bench, 'hold');
    await bench.hear(message({ content: '!shutdown' }));
    expect(bench.shutdowns).toBe(1);
    expect(reports(bench)).toEqual([{ type: 'owner_command', command: '!shutdown', status: 'stopping' }]);
    bench.openGate('go');
    await bench.nth('turn_ended');
    expect(bench.answers).toEqual(['done']);
  });

  it('that is old is consumed without effect, and told so', async () => {
    const bench = openBench({ script: { rules: [HOLD, ANSWER] } });
    await running(bench, 'hold');
    for (const content of ['!cancel', '!rotate', '!shutdown']) await bench.hear(message({ content, at: AT - 301 }));
    expect(reports(bench).map((one) => (one as { readonly status: string }).status)).toEqual(['stale', 'stale', 'stale']);
    expect(bench.shutdowns).toBe(0);
    expect(bench.agent.snapshot().turns).toHaveLength(1);
  });

  it('of anybody else is a message like any other', async () => {
    const bench = openBench({ script: { rules: [ANSWER] } });
    await bench.hear(message({ content: '!cancel', by: friend }));
    // As any message of theirs in a channel of which nothing is known.
    expect(bench.seen('refused')).toMatchObject([{ reason: 'direct-message' }]);
    expect(reports(bench)).toEqual([]);
  });
});
