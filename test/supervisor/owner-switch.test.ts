/** What becomes of an owner's `switch_model` that is under way when its channel is left, another follows, or it breaks. */
import { describe, expect, it, vi } from 'vitest';
import type { AgentProcess } from '../../src/acp/index.ts';
import { channelId, settleable, silentLog } from '../../src/model/index.ts';
import { Life } from '../../src/supervisor/life.ts';
import { ModelChoices } from '../../src/supervisor/models.ts';
import { OwnerDesk } from '../../src/supervisor/owner-desk.ts';
import { DeliveredEvents } from '../../src/supervisor/sessions/delivered.ts';
import { openBench } from './bench.ts';
import type { Bench } from './bench.ts';
import { fakeLink } from './fake-link.ts';
import { HandClock } from './hand-clock.ts';
import { ANSWER, answered, frameOf, HOLD, holding, MODEL_MS, MODELS, nthResult, order, results, running, whileStopped } from './orders.ts';
import { channel, message, ms } from './people.ts';

async function isLeft({ link }: Bench): Promise<void> {
  await link.give({ type: 'left', channelId: channel });
  await link.give({ type: 'joined', channelId: channel });
}

/** The next turn there; `count` of all. */
async function next(bench: Bench, count: number): Promise<unknown> {
  await bench.hear(message({ content: 'next' }));
  // A process that was given up is followed by another.
  await bench.until(() => {
    if (bench.agent.snapshot().processes.every(({ state }) => state !== 'starting' && state !== 'busy')) bench.clock.push(1_000);
    return bench.seen('turn_ended').length === count;
  });
  return answered(bench).at(-1);
}

describe('a channel that is left', () => {
  it('while its turn is cut short for another model: the order is told its end, and the channel has none', async () => {
    const bench = openBench({ script: { newSession: MODELS, onCancel: { do: [{ wait: 'go' }] }, rules: [HOLD, ANSWER] } });
    await running(bench, 'hold');
    order(bench, 'switch_model', { modelId: 'large', requestId: 'r1' });
    expect(await nthResult(bench, 1)).toMatchObject({ status: 'sent' });
    await isLeft(bench);
    expect(results(bench).slice(1)).toEqual([{ type: 'switch_model', status: 'no_active_turn', modelId: 'large', requestId: 'r1' }]);
    bench.openGate('go');
    await bench.nth('turn_ended');
    expect(await next(bench, 2)).toMatchObject({ model: 'small' });
    expect(results(bench)).toHaveLength(2);
  });

  it.each([['answers', false], ['does not answer', true]])('while its session, whose process %s, is put to another model', async (_, isDeaf) => {
    const bench = openBench({ script: { newSession: MODELS, rules: [ANSWER] } });
    await bench.hear(message({ content: 'one' }));
    await bench.nth('turn_ended');
    const pid = holding(bench);
    await whileStopped(pid, async () => {
      order(bench, 'switch_model', { modelId: 'large' });
      await bench.until(() => bench.clock.waits(MODEL_MS));
      await isLeft(bench);
      expect(results(bench)).toEqual([]);
      if (isDeaf) bench.clock.push(MODEL_MS);
    });
    expect(await nthResult(bench, 1)).toMatchObject({ status: 'no_active_turn', modelId: 'large' });
    expect(await next(bench, 2)).toMatchObject({ model: 'small' });
    expect(results(bench)).toHaveLength(1);
  });
});

it('one that no session answers does not take the place of another that has followed', async () => {
  const bench = openBench({ script: { newSession: MODELS, rules: [ANSWER] } });
  await bench.hear(message({ content: 'one' }));
  await bench.nth('turn_ended');
  const pid = holding(bench);
  await whileStopped(pid, async () => {
    order(bench, 'switch_model', { modelId: 'small', requestId: 'r1' });
    await bench.until(() => bench.clock.waits(MODEL_MS));
    order(bench, 'switch_model', { modelId: 'large', requestId: 'r2' });
    await bench.until(() => bench.agent.snapshot().processes.some(({ state }) => state === 'busy'));
    bench.clock.push(MODEL_MS);
    bench.clock.push(MODEL_MS);
  });
  await nthResult(bench, 2);
  expect(await next(bench, 2)).toMatchObject({ model: 'large' });
  expect(results(bench).filter((one) => (one as { readonly requestId: unknown }).requestId === 'r1')).toMatchObject([{ status: 'no_active_turn' }]);
});

it('that breaks leaves neither the session nor its process held', async () => {
  const { promise: asked, resolve: fail } = settleable<undefined>();
  const broken: Pick<AgentProcess, 'setModel'> = {
    setModel: async () => {
      await asked;
      throw new Error('broken');
    },
  };
  const link = fakeLink();
  // Of the process nothing else is asked.
  const life = new Life(broken as AgentProcess, { sessionId: 's1', endpoint: '', token: '' }, link, 1);
  life.remember(channel, {
    sessionId: 'session-1', takesSystemPrompt: false, standing: {}, fingerprint: '', delivered: new DeliveredEvents(), standingSent: true, turns: 1, turnSeq: 1, isKept: false, usedAtMs: ms(0),
  });
  const clock = new HandClock();
  const work: Promise<unknown>[] = [];
  const desk = new OwnerDesk({
    options: () => ({ link, clock, steadyClock: clock, log: silentLog, name: 'helper' }),
    pool: { sessionsOf: (id) => life.lanesOf(id).map(([lane, session]) => ({ life, lane, session })), forget: () => undefined },
    permissions: { decide: () => undefined }, models: new ModelChoices(), memory: { forgetChannel: () => undefined }, turnsIn: () => [],
    advance: async () => 0, track: (one) => { work.push(one); }, used: () => undefined, pump: () => undefined,
  });
  desk.order(frameOf('switch_model', { modelId: 'large' }));
  await vi.waitFor(() => { expect([desk.heldLanes().length, life.status]).toEqual([1, 'busy']); });
  fail(undefined);
  await expect(Promise.all(work)).rejects.toThrow('broken');
  expect([desk.heldLanes().length, life.status]).toEqual([0, 'idle']);
});

describe('a choice that waits to be told its end', () => {
  it('is told when another follows it and stays, not when that one is taken back', () => {
    const models = new ModelChoices();
    const told: string[] = [];
    const first = { modelId: 'small', answer: (status: string) => { told.push(status); } };
    const second = { modelId: 'large' };
    models.choose(channel, first);
    models.choose(channel, second);
    models.takeBack(channel, second, first);
    expect([told, models.of(channel)]).toEqual([[], first]);
    models.choose(channel, second);
    models.followed(first);
    models.followed(first);
    expect(told).toEqual(['no_active_turn']);
  });

  it('is told when it gives way to those of many other channels', () => {
    const models = new ModelChoices();
    const told: string[] = [];
    models.choose(channel, { modelId: 'small', answer: (status) => { told.push(status); } });
    for (let index = 0; index < 1_023; index += 1) models.choose(channelId(`11111111-2222-4333-8444-${String(index).padStart(12, '0')}`), { modelId: 'small' });
    expect(told).toEqual([]);
    models.choose(channelId('11111111-2222-4333-8444-999999999999'), { modelId: 'small' });
    expect(told).toEqual(['no_active_turn']);
  });

  it('in a channel without a session: an order that follows takes its place, and both are answered', async () => {
    const bench = openBench({ script: { newSession: MODELS, onCancel: { do: [{ wait: 'go' }] }, rules: [HOLD, ANSWER] } });
    await running(bench, 'hold');
    order(bench, 'switch_model', { modelId: 'large', requestId: 'r1' });
    expect(await nthResult(bench, 1)).toMatchObject({ requestId: 'r1', status: 'sent' });
    order(bench, 'cancel_turn', {});
    await nthResult(bench, 2);
    bench.openGate('go');
    await bench.nth('turn_ended');
    order(bench, 'switch_model', { modelId: 'large', requestId: 'r2' });
    await bench.until(() => results(bench).length === 4);
    expect(results(bench).slice(2)).toMatchObject([{ requestId: 'r1', status: 'no_active_turn' }, { requestId: 'r2', status: 'switched' }]);
  });
});
