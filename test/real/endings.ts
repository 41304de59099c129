/** Turns of a stock agent program that do not come to their end: cancelled, killed, stopped. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isAlive } from '../e2e/alive.ts';
import type { RealAgent } from './agents.ts';
import { hasBegun } from './scene.ts';
import type { Scene } from './scene.ts';

const ENDLESS = 'run echo $$ > tool.part && mv tool.part tool && exec sleep 3600';

export function isCancelled(real: RealAgent, open: () => Promise<Scene>): void {
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

/** To be the first of its suite. */
export function goesOn(real: RealAgent, open: () => Promise<Scene>): void {
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

export function isKilled(open: () => Promise<Scene>): void {
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

export function isStopped(open: () => Promise<Scene>): void {
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

/** The process id of a tool that outlives everything unless it is ended, once the owner has let it run. */
async function endlessTool(scene: Scene): Promise<number> {
  const path = join(scene.work, 'tool');
  rmSync(path, { force: true });
  const cards = scene.cards.length;
  await scene.ask(ENDLESS);
  await scene.desk.decide(await scene.until('a card', () => scene.cards[cards]), 'allow');
  return scene.until('the tool', () => existsSync(path) && Number(readFileSync(path, 'utf8')));
}
