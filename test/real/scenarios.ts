/** What every stock agent program has to come through, one test file a program. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Event } from 'nostr-tools/pure';
import { afterAll, describe, expect, it } from 'vitest';
import { isAlive } from '../e2e/alive.ts';
import type { RealAgent } from './agents.ts';
import { installed } from './installed.ts';
import { BEGINNING, DONE } from './model/mind.ts';
import { providerSaysNo } from './provider.ts';
import { keyTexts, openScene } from './scene.ts';
import type { Scene } from './scene.ts';

const TEST_MS = 300_000;
const ENDLESS = 'run echo $$ > tool.part && mv tool.part tool && exec sleep 3600';

export function describeAgent(real: RealAgent): void {
  const found = installed(real.name);
  const missing = 'missing' in found ? found.missing : undefined;
  describe.skipIf(missing !== undefined)(`${real.name}${missing === undefined ? '' : `: ${missing}`}`, { timeout: TEST_MS }, () => {
    describe('under permission: ask', () => {
      const scene = sceneOf(real, ['permission: ask', 'instructions: Speak of herons.']);
      answersByTool(scene);
      asksItsOwner(real, scene);
      isCancelled(real, scene);
      if (real.isSteered) isSteered(scene);
      else isCutShort(scene);
      isKilled(scene);
      isStopped(scene);
    });
    describe('under permission: ask, and nobody answers', () => {
      takesSilenceForANo(real, sceneOf(real, ['permission: ask', 'ask-timeout: 1s']));
    });
    describe('under permission: allow', () => {
      const scene = sceneOf(real, ['permission: allow']);
      runsUnasked(real, scene, true);
      switchesModel(real, scene);
    });
    describe('under permission: reject', () => {
      const scene = sceneOf(real, ['permission: reject', 'instructions: Speak of herons.']);
      goesOn(real, scene);
      runsUnasked(real, scene, false);
    });
    describe('with a model and an effort of its config', () => {
      isAsWished(real, sceneOf(real, [`model: ${real.otherModel.id}`, 'effort: high']));
    });
    describe('when its provider says no', () => {
      providerSaysNo(real, () => sceneOf(real));
    });
  });
}

/** One agent program for all the tests of a suite, which go on where the one before has left off: to start one takes seconds. */
function sceneOf(real: RealAgent, agent: readonly string[] = []): () => Promise<Scene> {
  let scene: Promise<Scene> | undefined;
  afterAll(async () => (await scene)?.close());
  return async () => {
    scene ??= openScene(real, { agent });
    const open = await scene;
    open.beginAnew();
    return open;
  };
}

function answersByTool(open: () => Promise<Scene>): void {
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

function runsUnasked(real: RealAgent, open: () => Promise<Scene>, runs: boolean): void {
  it(`${runs ? 'runs' : 'does not run'} a tool for which it asks`, async () => {
    const scene = await open();
    await scene.ask('run touch mark');
    const end = await scene.until('the end of the turn', () => scene.ends[0]);
    expect(existsSync(join(scene.work, 'mark'))).toBe(runs);
    expect(end.outcome).toBe(runs ? 'end_turn' : real.afterNo);
    if (runs) expect((await scene.until('an answer', () => scene.answers[0])).content).toContain(DONE);
  });
}

function asksItsOwner(real: RealAgent, open: () => Promise<Scene>): void {
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

function takesSilenceForANo(real: RealAgent, open: () => Promise<Scene>): void {
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

function isCancelled(real: RealAgent, open: () => Promise<Scene>): void {
  it('is cancelled while it writes and while a tool runs, and goes on in the same process', async () => {
    const scene = await open();
    await scene.ask('hold it');
    await scene.until('the beginning', () => hasBegun(scene));
    await scene.order({ type: 'cancel_turn' });
    await scene.until('its end', () => scene.ends[0]);
    const tool = await endlessTool(scene);
    await scene.order({ type: 'cancel_turn' });
    await scene.until('the second end', () => scene.ends[1]);
    await scene.ask('answer control');
    await scene.until('an answer', () => scene.answers[0]);
    await scene.until('the third end', () => scene.ends[2]);
    expect(scene.ends.map(({ outcome }) => outcome)).toEqual(['cancelled', 'cancelled', 'end_turn']);
    expect(scene.answers.map(({ content }) => content)).toEqual(['control']);
    expect(scene.stage.notes.filter(({ type }) => type === 'process_started')).toHaveLength(1);
    if (real.endsToolAtCancel) expect(isAlive(tool)).toBe(false);
  });
}

/** The turn has begun to write and the second message, in its thread, has come. */
async function askedTwice(scene: Scene): Promise<readonly [Event, Event]> {
  const first = await scene.ask('hold the herons');
  await scene.until('the beginning', () => hasBegun(scene));
  return [first, await scene.stage.say(scene.stage.owner, 'answer herons and storks', first)];
}

function isSteered(open: () => Promise<Scene>): void {
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

function isCutShort(open: () => Promise<Scene>): void {
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

function switchesModel({ otherModel }: RealAgent, open: () => Promise<Scene>): void {
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

function isAsWished({ otherModel, efforts }: RealAgent, open: () => Promise<Scene>): void {
  it('has them, and what it does not offer is told', async () => {
    const scene = await open();
    await scene.ask('and only');
    await scene.until('an answer', () => scene.answers[0]);
    expect(scene.model.requests.at(-1)?.model).toBe(otherModel.asked);
    const [agent] = scene.stage.running.snapshot().agents;
    expect(agent?.refusedSettings).toEqual(efforts ? undefined : [{ setting: 'effort', value: 'high', offered: [] }]);
  });
}

/** To be the first of its suite. */
function goesOn(real: RealAgent, open: () => Promise<Scene>): void {
  it('is killed between two turns, and knows in the second what was said in the first', async () => {
    const scene = await open();
    const root = await scene.ask('answer first light');
    await scene.until('an answer', () => scene.answers[0]);
    await scene.until('the end of the turn', () => scene.ends[0]);
    const begun = await scene.until('the turn', () => scene.notes.find((note) => note.type === 'turn_started'));
    process.kill(begun.pid, 'SIGKILL');
    const before = scene.model.requests.length;
    await scene.stage.say(scene.stage.owner, 'answer second light', root);
    await scene.until('another answer', () => scene.answers[1]);
    await scene.until('the second end', () => scene.ends[1]);
    expect(scene.answers.map(({ content }) => content)).toEqual(['first light', 'second light']);
    const sessions = scene.notes.flatMap((note) => (note.type === 'turn_started' ? [note.session] : []));
    expect(sessions).toEqual(['new', real.afterKill]);
    // By its own memory, or by the history that it is given; and it has its instructions. It may ask for a title first.
    const asked = scene.model.requests.slice(before).find(({ body }) => body.includes('second light'));
    expect(asked?.body).toContain('first light');
    expect(asked?.body).toContain('Speak of herons.');
    const told = scene.frames.filter(({ kind, plaintext }) => kind === 'acp_read' && plaintext.includes('user_message_chunk'));
    expect(told).toEqual([]);
  });
}

function isKilled(open: () => Promise<Scene>): void {
  it('is killed in mid-turn, and the message is answered once', async () => {
    const scene = await open();
    const before = new Set(scene.processes().map(({ pid }) => pid));
    await scene.ask('hold after all');
    const started = await scene.until('the turn', () => scene.notes.find((note) => note.type === 'turn_started'));
    await scene.until('the beginning', () => hasBegun(scene));
    expect([...before]).toContain(started.pid);
    process.kill(started.pid, 'SIGKILL');
    await scene.until('an answer', () => scene.answers[0]);
    await scene.until('the second end', () => scene.ends[1]);
    await scene.ask('answer control');
    await scene.until('another answer', () => scene.answers[1]);
    expect(scene.answers.map(({ content }) => content)).toEqual(['after all', 'control']);
    expect(scene.notes.filter(({ type }) => type === 'process_started')).toHaveLength(1);
    // Its tools and servers neither, of which one may have outlived an earlier turn.
    expect(scene.processes().filter(({ pid }) => before.has(pid))).toEqual([]);
    await scene.until('the last end', () => scene.ends[2]);
  });
}

function isStopped(open: () => Promise<Scene>): void {
  it('is stopped while a tool runs, and nothing of it is left', async () => {
    const scene = await open();
    const tool = await endlessTool(scene);
    const before = scene.processes();
    expect(isAlive(tool)).toBe(true);
    expect(before.length).toBeGreaterThan(1);
    await scene.stage.running.close(0);
    expect(isAlive(tool)).toBe(false);
    expect(scene.processes().filter(({ pid }) => isAlive(pid))).toEqual([]);
    expect(before.filter(({ pid }) => isAlive(pid))).toEqual([]);
  });
}

function hasBegun({ frames }: Scene): boolean {
  return frames.some(({ kind, plaintext }) => kind === 'acp_read' && plaintext.includes(BEGINNING));
}

/** The process id of a tool that outlives everything unless it is ended, once the owner has let it run. */
async function endlessTool(scene: Scene): Promise<number> {
  const path = join(scene.work, 'tool');
  rmSync(path, { force: true });
  const cards = scene.cards.length;
  await scene.ask(ENDLESS);
  await scene.desk.decide(await scene.until('a card', () => scene.cards[cards]), 'allow');
  // What the agent tells of its tool wakes the look.
  return scene.until('the tool', () => existsSync(path) && Number(readFileSync(path, 'utf8')));
}
