/**
 * The example agent of the official ACP library: frames of somebody else's making, with no model behind. It says four
 * texts a second apart, and between the third and the last it asks for permission: the tests wait beside each other.
 */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TestContext } from 'vitest';
import { OwnerDesk } from '../../src/cli/demo/owner-desk.ts';
import { isAlive } from '../e2e/alive.ts';
import { openEye } from '../e2e/owner-eye.ts';
import { openStage } from '../e2e/stage.ts';
import type { Stage } from '../e2e/stage.ts';
import { installed } from './installed.ts';

const PATIENCE_MS = 120_000;
const FIRST_WORDS = "I'll help you with that.";

const found = installed('sdk');
const missing = 'missing' in found ? found.missing : undefined;

/** Closed when the test is over. */
async function stageOf({ onTestFinished }: TestContext, ...agent: readonly string[]): Promise<Stage> {
  const program = 'missing' in found ? '' : join(found.modules, '@agentclientprotocol', 'sdk', 'dist', 'examples', 'agent.js');
  const stage = await openStage({ rules: [], adapter: JSON.stringify({ command: process.execPath, args: [program] }), agent: ['mid-turn: steer', ...agent] });
  onTestFinished(() => stage.close());
  return stage;
}

function ended({ notes }: Stage): readonly string[] {
  return notes.flatMap((note) => (note.type === 'turn_ended' ? [note.outcome] : []));
}

describe.skipIf(missing !== undefined).concurrent(`sdk${missing === undefined ? '' : `: ${missing}`}`, { timeout: 300_000 }, () => {
  it.for([['allow', "I've successfully updated the configuration"], ['reject', "I understand you prefer not to make that change"]])(
    'has the text it wrote sent as its answer: %s',
    async ([permission = '', words = ''], context) => {
      const stage = await stageOf(context, `permission: ${permission}`);
      const asked = await stage.say(stage.owner, 'change it');
      const answer = await stage.watch.until('an answer', () => stage.answers[0], PATIENCE_MS);
      expect(answer.content).toContain(FIRST_WORDS);
      expect(answer.content).toContain(words);
      expect(answer.tags).toContainEqual(['e', asked.id, '', 'reply']);
      expect(stage.answers).toHaveLength(1);
    },
  );

  it('asks its owner', async (context) => {
    const stage = await stageOf(context, 'permission: ask');
    const desk = new OwnerDesk(stage.owner, stage, () => stage.watch.look());
    await stage.say(stage.owner, 'change it');
    const shown = await stage.watch.until('a card', () => desk.cards[0], PATIENCE_MS);
    await desk.decide(shown, 'allow');
    const answer = await stage.watch.until('an answer', () => stage.answers.find(({ id }) => id !== shown.event.id), PATIENCE_MS);
    expect(answer.content).toContain("I've successfully updated");
    expect(desk.editOf(shown)?.card).toMatchObject({ outcome: 'applied' });
  });

  it('is cancelled, offers no model, is killed, answers once, and leaves nothing when it is stopped', async (context) => {
    const stage = await stageOf(context);
    const frames = await openEye(stage);
    const desk = new OwnerDesk(stage.owner, stage, () => stage.watch.look());
    const beginnings = (): number => frames.filter(({ kind, plaintext }) => kind === 'acp_read' && plaintext.includes(FIRST_WORDS)).length;
    const pids = (): readonly number[] => stage.notes.flatMap((note) => (note.type === 'process_started' ? [note.pid] : []));
    await stage.say(stage.owner, 'begin');
    await stage.watch.until('the beginning', () => beginnings() === 1, PATIENCE_MS);
    await desk.order({ type: 'cancel_turn', channelId: stage.channelId });
    await stage.watch.until('its end', () => ended(stage).length === 1, PATIENCE_MS);
    await desk.order({ type: 'switch_model', channelId: stage.channelId, modelId: 'large' });
    const results = (): readonly unknown[] => frames.flatMap(({ kind, payload }) => (kind === 'control_result' ? [payload['status']] : []));
    await stage.watch.until('both results', () => results().length === 2, PATIENCE_MS);
    expect(results()).toEqual(['sent', 'unsupported_model']);
    expect(pids()).toHaveLength(1);
    await stage.say(stage.owner, 'begin again');
    await stage.watch.until('the second beginning', () => beginnings() === 2, PATIENCE_MS);
    process.kill(pids()[0] ?? expect.fail('no process'), 'SIGKILL');
    const answer = await stage.watch.until('an answer', () => stage.answers[0], PATIENCE_MS);
    expect(answer.content).toContain(FIRST_WORDS);
    await stage.watch.until('the end of that', () => ended(stage).length === 3, PATIENCE_MS);
    expect(ended(stage)).toEqual(['cancelled', 'process_ended', 'end_turn']);
    expect([stage.answers.length, pids().length]).toEqual([1, 2]);
    await stage.running.close(0);
    expect(pids().filter(isAlive)).toEqual([]);
  });

  it('takes no message while it writes: its turn is cut short, and both are answered once in one turn of the same process', async (context) => {
    const stage = await stageOf(context);
    const frames = await openEye(stage);
    const first = await stage.say(stage.owner, 'begin');
    await stage.watch.until('the beginning', () => frames.some(({ kind, plaintext }) => kind === 'acp_read' && plaintext.includes(FIRST_WORDS)), PATIENCE_MS);
    const second = await stage.say(stage.owner, 'and end', first);
    const answer = await stage.watch.until('an answer', () => stage.answers[0], PATIENCE_MS);
    expect(answer.tags).toContainEqual(['e', first.id, '', 'reply']);
    await stage.watch.until('the end of that', () => ended(stage).length === 2, PATIENCE_MS);
    expect(ended(stage)).toEqual(['cancelled', 'end_turn']);
    const merged = stage.notes.filter((note) => note.type === 'turn_started')[1];
    expect(new Set(merged?.eventIds)).toEqual(new Set([first.id, second.id]));
    expect(stage.running.snapshot().agents[0]?.inbox).toMatchObject({ queued: 0, done: 2, dead: 0 });
    expect(stage.answers).toHaveLength(1);
    expect(stage.notes.filter(({ type }) => type === 'process_started' || type === 'steered')).toMatchObject([{ type: 'process_started' }]);
  });
});
