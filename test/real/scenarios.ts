/** What every stock agent program has to come through, one test file a program. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { isAlive } from '../e2e/alive.ts';
import type { RealAgent } from './agents.ts';
import { installed } from './installed.ts';
import { BEGINNING, DONE } from './model/mind.ts';
import { providerSaysNo } from './provider.ts';
import { keyTexts, openScene } from './scene.ts';
import type { Scene, SceneOptions } from './scene.ts';

const TEST_MS = 300_000;
/** A tool that outlives everything unless it is ended. */
const ENDLESS = 'run echo $$ > tool.part && mv tool.part tool && exec sleep 3600';

export function describeAgent(real: RealAgent): void {
  const found = installed(real.name);
  const missing = 'missing' in found ? found.missing : undefined;
  describe.skipIf(missing !== undefined)(`${real.name}${missing === undefined ? '' : `: ${missing}`}`, { timeout: TEST_MS }, () => {
    let scene: Scene | undefined;
    const open = async (options: SceneOptions = {}): Promise<Scene> => {
      scene = await openScene(real, options);
      return scene;
    };
    afterEach(async () => {
      await scene?.close();
      scene = undefined;
    });
    answersByTool(open);
    asks(real, open);
    asksItsOwner(real, open);
    isCancelled(real, open);
    switchesModel(real, open);
    isAsWished(real, open);
    isKilled(open);
    goesOn(real, open);
    isStopped(open);
    providerSaysNo(real, open);
  });
}

type Open = (options?: SceneOptions) => Promise<Scene>;

function ends({ stage: { notes } }: Scene): readonly { readonly outcome: string; readonly published: readonly string[] }[] {
  return notes.flatMap((note) => (note.type === 'turn_ended' ? [note] : []));
}

/** The process id of the endless tool, once it runs. */
async function toolOf({ work, frames, until }: Scene): Promise<number> {
  const path = join(work, 'tool');
  // What the agent tells of its tool wakes the look.
  return until('the tool', () => frames.length > 0 && existsSync(path) && Number(readFileSync(path, 'utf8')));
}

function answersByTool(open: Open): void {
  it('answers a mention by the tool it was given, and holds no key', async () => {
    const scene = await open({ agent: ['instructions: Speak of herons.'] });
    const asked = await scene.ask('answer one & <two>');
    const answer = await scene.until('an answer', () => scene.stage.answers[0]);
    expect(answer.content).toBe('one & <two>');
    expect(answer.tags).toContainEqual(['e', asked.id, '', 'reply']);
    const keys = keyTexts(scene.stage);
    const processes = scene.processes();
    expect(processes.length).toBeGreaterThan(1);
    expect(processes.filter(({ text }) => keys.some((key) => text.includes(key)))).toEqual([]);
    const end = await scene.until('the end of the turn', () => ends(scene)[0]);
    expect(end).toMatchObject({ outcome: 'end_turn', published: [answer.id] });
    expect(scene.stage.answers).toHaveLength(1);
    expect(scene.model.requests[0]?.body).toContain('Speak of herons.');
  });
}

function asks(real: RealAgent, open: Open): void {
  it.each([['allow', true], ['reject', false]])('asks before it runs a tool: %s', async (permission, ran) => {
    const scene = await open({ agent: [`permission: ${permission}`] });
    await scene.ask('run touch mark');
    const end = await scene.until('the end of the turn', () => ends(scene)[0]);
    expect(existsSync(join(scene.work, 'mark'))).toBe(ran);
    expect(end.outcome).toBe(ran ? 'end_turn' : real.afterNo);
    if (ran) expect((await scene.until('an answer', () => scene.stage.answers[0])).content).toContain(DONE);
  });
}

function asksItsOwner(real: RealAgent, open: Open): void {
  it('asks its owner, and does what they say', async () => {
    const scene = await open({ agent: ['permission: ask'] });
    await scene.ask('run touch yes');
    await scene.desk.decide(await scene.until('a card', () => scene.desk.cards[0]), 'allow');
    await scene.until('the end of the turn', () => ends(scene)[0]);
    await scene.ask('run touch no');
    await scene.desk.decide(await scene.until('another card', () => scene.desk.cards[1]), 'deny');
    await scene.until('the second end', () => ends(scene)[1]);
    expect(['yes', 'no'].map((name) => existsSync(join(scene.work, name)))).toEqual([true, false]);
    expect(ends(scene).map(({ outcome }) => outcome)).toEqual(['end_turn', real.afterNo]);
  });

  it('takes their silence for a no', async () => {
    const scene = await open({ agent: ['permission: ask', 'ask-timeout: 1s'] });
    await scene.ask('run touch mark');
    const shown = await scene.until('a card', () => scene.desk.cards[0]);
    const edit = await scene.until('its edit', () => scene.desk.editOf(shown));
    expect(edit.card).toMatchObject({ outcome: 'timed_out' });
    const end = await scene.until('the end of the turn', () => ends(scene)[0]);
    expect([end.outcome, existsSync(join(scene.work, 'mark'))]).toEqual([real.afterNo, false]);
  });
}

function isCancelled(real: RealAgent, open: Open): void {
  it('is cancelled while it writes and while a tool runs, and goes on in the same process', async () => {
    const scene = await open({ agent: ['permission: allow'] });
    await scene.ask('hold it');
    await scene.until('the beginning', () => scene.frames.some(({ kind, plaintext }) => kind === 'acp_read' && plaintext.includes(BEGINNING)));
    await scene.order({ type: 'cancel_turn' });
    await scene.until('its end', () => ends(scene)[0]);
    await scene.ask(ENDLESS);
    const tool = await toolOf(scene);
    await scene.order({ type: 'cancel_turn' });
    await scene.until('the second end', () => ends(scene)[1]);
    await scene.ask('answer control');
    await scene.until('an answer', () => scene.stage.answers[0]);
    await scene.until('the third end', () => ends(scene)[2]);
    expect(ends(scene).map(({ outcome }) => outcome)).toEqual(['cancelled', 'cancelled', 'end_turn']);
    expect(scene.stage.answers.map(({ content }) => content)).toEqual(['control']);
    expect(scene.stage.notes.filter(({ type }) => type === 'process_started')).toHaveLength(1);
    if (real.endsToolAtCancel) expect(isAlive(tool)).toBe(false);
    await scene.stage.running.close(0);
    expect(isAlive(tool)).toBe(false);
  });
}

function switchesModel({ otherModel }: RealAgent, open: Open): void {
  it('has its model switched between two turns', async () => {
    const scene = await open();
    await scene.ask('answer first');
    await scene.until('the first end', () => ends(scene)[0]);
    expect(scene.model.requests.map(({ model }) => model)).not.toContain(otherModel.asked);
    await scene.order({ type: 'switch_model', modelId: otherModel.id });
    const result = await scene.until('the result', () => scene.frames.find(({ kind }) => kind === 'control_result'));
    expect(result.payload).toMatchObject({ type: 'switch_model', status: 'switched', modelId: otherModel.id });
    // By its words: another model may be offered other tools.
    await scene.ask('and second');
    await scene.until('the second answer', () => scene.stage.answers[1]);
    expect(scene.model.requests.at(-1)?.model).toBe(otherModel.asked);
    expect(scene.stage.answers.map(({ content }) => content)).toEqual(['first', 'and second']);
  });
}

function isAsWished({ otherModel, efforts }: RealAgent, open: Open): void {
  it('has the model and the effort of its config, and what it does not offer is told', async () => {
    const scene = await open({ agent: [`model: ${otherModel.id}`, 'effort: high'] });
    await scene.ask('and only');
    await scene.until('an answer', () => scene.stage.answers[0]);
    expect(scene.model.requests.at(-1)?.model).toBe(otherModel.asked);
    const [agent] = scene.stage.running.snapshot().agents;
    expect(agent?.refusedSettings).toEqual(efforts ? undefined : [{ setting: 'effort', value: 'high', offered: [] }]);
  });
}

function isKilled(open: Open): void {
  it('is killed in mid-turn, and the message is answered once', async () => {
    const scene = await open();
    await scene.ask('hold after all');
    const started = await scene.until('the turn', () => scene.stage.notes.find((note) => note.type === 'turn_started'));
    await scene.until('the beginning', () => scene.frames.some(({ kind, plaintext }) => kind === 'acp_read' && plaintext.includes(BEGINNING)));
    process.kill(started.pid, 'SIGKILL');
    await scene.until('an answer', () => scene.stage.answers[0]);
    await scene.until('the second end', () => ends(scene)[1]);
    await scene.ask('answer control');
    await scene.until('another answer', () => scene.stage.answers[1]);
    expect(scene.stage.answers.map(({ content }) => content)).toEqual(['after all', 'control']);
    expect(scene.stage.notes.filter(({ type }) => type === 'process_started')).toHaveLength(2);
    expect(scene.processes().map(({ pid }) => pid)).not.toContain(started.pid);
  });
}

function goesOn(real: RealAgent, open: Open): void {
  it('is killed between two turns, and knows in the second what was said in the first', async () => {
    const scene = await open({ agent: ['instructions: Speak of herons.'] });
    const root = await scene.ask('answer first light');
    await scene.until('an answer', () => scene.stage.answers[0]);
    await scene.until('the end of the turn', () => ends(scene)[0]);
    const begun = await scene.until('the turn', () => scene.stage.notes.find((note) => note.type === 'turn_started'));
    process.kill(begun.pid, 'SIGKILL');
    const before = scene.model.requests.length;
    await scene.stage.say(scene.stage.owner, 'answer second light', root);
    await scene.until('another answer', () => scene.stage.answers[1]);
    await scene.until('the second end', () => ends(scene)[1]);
    expect(scene.stage.answers.map(({ content }) => content)).toEqual(['first light', 'second light']);
    const sessions = scene.stage.notes.flatMap((note) => (note.type === 'turn_started' ? [note.session] : []));
    expect(sessions).toEqual(['new', real.afterKill]);
    // By its own memory, or by the history that it is given; and it has its instructions. It may ask for a title first.
    const asked = scene.model.requests.slice(before).find(({ body }) => body.includes('second light'));
    expect(asked?.body).toContain('first light');
    expect(asked?.body).toContain('Speak of herons.');
    const told = scene.frames.filter(({ kind, plaintext }) => kind === 'acp_read' && plaintext.includes('user_message_chunk'));
    expect(told).toEqual([]);
  });
}

function isStopped(open: Open): void {
  it('is stopped while a tool runs, and nothing of it is left', async () => {
    const scene = await open({ agent: ['permission: allow'] });
    await scene.ask(ENDLESS);
    const tool = await toolOf(scene);
    const before = scene.processes();
    expect(isAlive(tool)).toBe(true);
    expect(before.length).toBeGreaterThan(1);
    await scene.stage.running.close(0);
    expect(isAlive(tool)).toBe(false);
    expect(scene.processes().filter(({ pid }) => isAlive(pid))).toEqual([]);
    expect(before.filter(({ pid }) => isAlive(pid))).toEqual([]);
  });
}
