/** A stock agent, with no code of ours inside and nothing but MCP, reads and answers a mention. */
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { openStage } from './stage.ts';
import type { Stage } from './stage.ts';

let open: Stage | undefined;

async function stageWith(...agent: readonly string[]): Promise<Stage> {
  const program = fileURLToPath(new URL('programs/answers-through-mcp.mjs', import.meta.url));
  const adapter = JSON.stringify({ command: process.execPath, args: [program] });
  open = await openStage({ rules: [], adapter, agent });
  return open;
}

afterEach(async () => {
  await open?.close();
  open = undefined;
});

it('an agent that knows only MCP answers a mention, in its thread, once', { timeout: 60_000 }, async () => {
  const stage = await stageWith();
  const asked = await stage.say(stage.owner, 'say something');
  const answer = await stage.watch.until('an answer', () => stage.answers[0], 40_000);
  expect(answer.content).toBe('buzz heard: say something');
  expect(answer.tags).toContainEqual(['e', asked.id, '', 'reply']);
  const end = await stage.watch.until('the end of the turn', () => stage.notes.find(({ type }) => type === 'turn_ended'), 40_000);
  expect(end).toMatchObject({ outcome: 'end_turn', published: [answer.id] });
  expect(stage.answers).toHaveLength(1);
});

it('is given no server where its config says so', { timeout: 60_000 }, async () => {
  const stage = await stageWith('mcp: false');
  await stage.say(stage.owner, 'say something');
  const answer = await stage.watch.until('an answer', () => stage.answers[0], 40_000);
  expect(answer.content).toBe('I was given no server.');
});
