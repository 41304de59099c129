/** The relay goes away at the worst moments: what was asked is answered once, and what was said is not lost. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openOutsideRelay } from './outside-relay.ts';
import type { OutsideRelay } from './outside-relay.ts';
import { openStage } from './stage.ts';
import type { Stage } from './stage.ts';

let relay: OutsideRelay;
let stage: Stage | undefined;

beforeEach(async () => {
  relay = await openOutsideRelay();
});

afterEach(async () => {
  await stage?.close();
  stage = undefined;
  await relay.stop();
});

it('keeps the text of an answer while the relay is away, and delivers it once', async () => {
  stage = await openStage({ rules: [{ match: 'long', do: [{ wait: 'go' }, { say: 'the long answer' }] }, { do: [{ say: 'short' }] }], outside: relay });
  const { watch, notes, answers } = stage;
  await stage.say(stage.owner, 'long');
  await watch.until('the turn', () => notes.find((note) => note.type === 'turn_started'));
  await relay.stop();
  stage.openGate('go');
  await watch.until('the agent to end', () => stage?.running.snapshot().agents[0]?.upstream.phase !== 'ready');
  expect(stage.running.snapshot().agents[0]?.inbox).toMatchObject({ dispatched: 1, done: 0 });
  await relay.start();
  const owner = await stage.reconnectOwner();
  await watch.until('the answer', () => answers[0], 30_000);
  await stage.say(owner, 'control');
  await watch.until('the control', () => answers[1], 30_000);
  expect(answers.map((event) => event.content)).toEqual(['the long answer', 'short']);
});

it('answers what waited while the relay was away, each once, in order', async () => {
  stage = await openStage({ rules: [{ match: 'hold', do: [{ wait: 'go' }, { reply: 'held' }] }, { do: [{ reply: '{{content}}' }] }], outside: relay });
  const { watch, answers, notes } = stage;
  await stage.say(stage.owner, 'hold');
  await watch.until('the turn', () => notes.find((note) => note.type === 'turn_started'));
  for (const text of ['one', 'two', 'three']) await stage.say(stage.owner, text);
  await watch.until('acceptance', () => notes.filter((note) => note.type === 'accepted').length === 4);
  await relay.stop();
  await relay.start();
  stage.openGate('go');
  await stage.reconnectOwner();
  await watch.until('four answers', () => answers.length === 4, 30_000);
  expect(answers.map((event) => event.content)).toEqual(['held', 'one', 'two', 'three']);
});

it('hears every mention although the connection is cut again and again', async () => {
  stage = await openStage({ rules: [{ do: [{ reply: '{{content}}' }] }], outside: relay });
  const texts = Array.from({ length: 3 }, (_, n) => `message ${n}`);
  for (const text of texts) {
    await relay.stop();
    await relay.start();
    await stage.say(await stage.reconnectOwner(), text);
    await stage.watch.until(`the answer to ${text}`, () => stage?.answers.some((event) => event.content === text), 40_000);
  }
  expect(stage.answers.map((event) => event.content)).toEqual(texts);
}, 60_000);
