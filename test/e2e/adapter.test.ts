/** A program that only the operator knows, from `skep.yaml` alone: its environment, and what it is called like. */
import { expect, it, onTestFinished } from 'vitest';
import { scriptedModule } from '../../adapters/index.ts';
import { openStage } from './stage.ts';

it('an operator’s own program runs with the environment that its adapter and its agent name', async () => {
  const adapter = { command: process.execPath, args: [scriptedModule(), 'script.json'], like: 'gemini', env: { MINE: 'the adapter’s', OTHER: 'the adapter’s' } };
  const stage = await openStage({
    rules: [{ do: [{ env: ['MINE', 'OTHER', 'GEMINI_CLI_NO_RELAUNCH'] }] }],
    adapter: JSON.stringify(adapter), agent: ['env: { OTHER: the agent’s }'],
  });
  onTestFinished(() => stage.close());
  await stage.say(stage.owner, 'hello');
  const answer = await stage.watch.until('an answer', () => stage.answers[0]);
  expect(JSON.parse(answer.content)).toEqual({ MINE: 'the adapter’s', OTHER: 'the agent’s', GEMINI_CLI_NO_RELAUNCH: 'true' });
});
