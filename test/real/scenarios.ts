/** Turns of a stock agent program that come to their end: answers, tools for which it asks, steers, models. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Event } from 'nostr-tools/pure';
import { expect, it } from 'vitest';
import type { RealAgent } from './agents.ts';
import { DONE } from './model/mind.ts';
import { hasBegun, keyTexts } from './scene.ts';
import type { Scene } from './scene.ts';

export function answersByTool(open: () => Promise<Scene>): void {
  it('answers a mention by the tool it was given, and holds no key', async () => {
    const scene = await open();
    const asked = await scene.ask('answer one & <two>');
    const answer = await scene.until('an answer', () => scene.answers[0]);
    expect(answer.content).toBe('one & <two>');
    expect(answer.tags).toContainEqual(['e', asked.id, '', 'reply']);
    const keys = keyTexts(scene.stage);
    const processes = scene.processes();
    expect(processes.length).toBeGreaterThan(1);
    expect(processes.filter(({ text }) => keys.some((key) => text.includes(key)))).toEqual([]);
    const end = await scene.until('the end of the turn', () => scene.ends[0]);
    expect(end).toMatchObject({ outcome: 'end_turn', published: [answer.id] });
    expect(scene.answers).toHaveLength(1);
    expect(scene.model.requests[0]?.body).toContain('Speak of herons.');
  });
}

export function runsUnasked(real: RealAgent, open: () => Promise<Scene>, runs: boolean): void {
  it(`${runs ? 'runs' : 'does not run'} a tool for which it asks`, async () => {
    const scene = await open();
    await scene.ask('run touch mark');
    const end = await scene.until('the end of the turn', () => scene.ends[0]);
    expect(existsSync(join(scene.work, 'mark'))).toBe(runs);
    expect(end.outcome).toBe(runs ? 'end_turn' : real.afterNo);
    if (runs) expect((await scene.until('an answer', () => scene.answers[0])).content).toContain(DONE);
  });
}

export function asksItsOwner(real: RealAgent, open: () => Promise<Scene>): void {
  it('asks its owner, and does what they say', async () => {
    const scene = await open();
    await scene.ask('run touch yes');
    await scene.desk.decide(await scene.until('a card', () => scene.cards[0]), 'allow');
    await scene.until('the end of the turn', () => scene.ends[0]);
    await scene.ask('run touch no');
    await scene.desk.decide(await scene.until('another card', () => scene.cards[1]), 'deny');
    await scene.until('the second end', () => scene.ends[1]);
    expect(['yes', 'no'].map((name) => existsSync(join(scene.work, name)))).toEqual([true, false]);
    expect(scene.ends.map(({ outcome }) => outcome)).toEqual(['end_turn', real.afterNo]);
  });
}

export function takesSilenceForANo(real: RealAgent, open: () => Promise<Scene>): void {
  it('takes their silence for a no', async () => {
    const scene = await open();
    await scene.ask('run touch mark');
    const shown = await scene.until('a card', () => scene.cards[0]);
    const edit = await scene.until('its edit', () => scene.desk.editOf(shown));
    expect(edit.card).toMatchObject({ outcome: 'timed_out' });
    const end = await scene.until('the end of the turn', () => scene.ends[0]);
    expect([end.outcome, existsSync(join(scene.work, 'mark'))]).toEqual([real.afterNo, false]);
  });
}

/** The turn has begun to write and the second message, in its thread, has come. */
async function askedTwice(scene: Scene): Promise<readonly [Event, Event]> {
  const first = await scene.ask('hold the herons');
  await scene.until('the beginning', () => hasBegun(scene));
  return [first, await scene.stage.say(scene.stage.owner, 'answer herons and storks', first)];
}

export function isSteered(open: () => Promise<Scene>): void {
  it('is given a message while it writes, and answers both once in the same turn', async () => {
    const scene = await open();
    const [, second] = await askedTwice(scene);
    const steered = await scene.until('the steer', () => scene.notes.find((note) => note.type === 'steered'));
    expect(steered).toMatchObject({ eventId: second.id, outcome: 'injected' });
    const told = await scene.until('its frame', () => scene.frames.find(({ kind }) => kind === 'prompt_context_steer'));
    expect(told).toMatchObject({ turnId: steered.turnId });
    const before = scene.model.requests.length;
    scene.model.letEnd();
    const asked = await scene.until('the next request', () => scene.model.requests[before]);
    expect(asked.body).toContain('herons and storks');
    const answer = await scene.until('an answer', () => scene.answers[0]);
    await scene.until('the end of the turn', () => scene.ends[0]);
    await settled(scene);
    expect(scene.answers.map(({ content }) => content)).toEqual(['herons and storks', 'control']);
    expect(scene.ends).toMatchObject([{ turnId: steered.turnId, outcome: 'end_turn', published: [answer.id] }, { outcome: 'end_turn' }]);
    expect(processesOfTurns(scene)).toHaveLength(1);
  });
}

export function isCutShort(open: () => Promise<Scene>): void {
  it('takes no message while it writes: its turn is cut short, and both are answered once in one turn of the same process', async () => {
    const scene = await open();
    const [first, second] = await askedTwice(scene);
    const answer = await scene.until('an answer', () => scene.answers[0]);
    expect(answer.tags).toContainEqual(['e', first.id, '', 'reply']);
    await scene.until('the second end', () => scene.ends[1]);
    await settled(scene);
    expect(scene.answers.map(({ content }) => content)).toEqual(['herons and storks', 'control']);
    expect(scene.ends.map(({ outcome }) => outcome)).toEqual(['cancelled', 'end_turn', 'end_turn']);
    const merged = scene.notes.filter((note) => note.type === 'turn_started')[1];
    expect(new Set(merged?.eventIds)).toEqual(new Set([first.id, second.id]));
    expect(scene.model.requests.find(({ body }) => body.includes('herons and storks'))?.body).toContain('hold the herons');
    expect(processesOfTurns(scene)).toHaveLength(1);
    expect(scene.notes.filter(({ type }) => type === 'steered')).toEqual([]);
  });
}

/** Each once. */
function processesOfTurns({ notes }: Scene): readonly number[] {
  return [...new Set(notes.flatMap((note) => (note.type === 'turn_started' ? [note.pid] : [])))];
}

/** Whatever was still to be answered has been. */
async function settled(scene: Scene): Promise<void> {
  const [answers, ends] = [scene.answers.length, scene.ends.length];
  await scene.ask('answer control');
  await scene.until('the control', () => scene.answers[answers]);
  await scene.until('its end', () => scene.ends[ends]);
}

export function switchesModel({ otherModel }: RealAgent, open: () => Promise<Scene>): void {
  it('has its model switched between two turns', async () => {
    const scene = await open();
    await scene.ask('answer first');
    await scene.until('the first end', () => scene.ends[0]);
    expect(scene.model.requests.map(({ model }) => model)).not.toContain(otherModel.asked);
    await scene.order({ type: 'switch_model', modelId: otherModel.id });
    const result = await scene.until('the result', () => scene.frames.find(({ kind }) => kind === 'control_result'));
    expect(result.payload).toMatchObject({ type: 'switch_model', status: 'switched', modelId: otherModel.id });
    // By its words: another model may be offered other tools.
    await scene.ask('and second');
    await scene.until('the second answer', () => scene.answers[1]);
    expect(scene.model.requests.at(-1)?.model).toBe(otherModel.asked);
    expect(scene.answers.map(({ content }) => content)).toEqual(['first', 'and second']);
  });
}

export function isAsWished({ otherModel, efforts }: RealAgent, open: () => Promise<Scene>): void {
  it('has them, and what it does not offer is told', async () => {
    const scene = await open();
    await scene.ask('and only');
    await scene.until('an answer', () => scene.answers[0]);
    await scene.until('the end of the turn', () => scene.ends[0]);
    expect(scene.model.requests.at(-1)?.model).toBe(otherModel.asked);
    const [agent] = scene.stage.running.snapshot().agents;
    expect(agent?.refusedSettings).toEqual(efforts ? undefined : [{ setting: 'effort', value: 'high', offered: [] }]);
  });
}
