/** Every example of docs/scripted-agent.md is played: a guide whose examples do not work is worse than none. */
import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { published, startBroker, succeeded } from './broker.ts';
import type { Broker } from './broker.ts';
import { startAgent, stopAll } from './client.ts';
import { THREAD } from './envelopes.ts';

const guide = readFileSync(new URL('../../../docs/scripted-agent.md', import.meta.url), 'utf8');
const examples = Array.from(guide.matchAll(/```yaml\n([\s\S]*?)```/g), ([, text = '']) => text);
let broker: Broker | undefined;

afterEach(async () => {
  await stopAll();
  await broker?.close();
});

describe('the guide to the scripted agent', () => {
  it('has examples', () => {
    expect(examples.length).toBeGreaterThan(10);
  });

  it.each(examples.map((text, index) => [index, text]))('plays example %i', async (_, text) => {
    const isWhole = text.startsWith('v: 1\n');
    const indented = text.replaceAll(/^(?=.)/gm, '      ');
    broker = await startBroker((request) =>
      request['action'] === 'channel.read' ? succeeded(request, { messages: [] }) : published(request),
    );
    const script = isWhole ? text : `v: 1\nrules:\n  - do:\n${indented}`;
    const agent = startAgent({ script, extension: '.yaml', env: broker.env });
    const session = await agent.open();
    writeFileSync(`${agent.directory}/go`, '');
    if (text.includes('SIGUSR2')) agent.kill('SIGUSR2');
    const answered = agent.prompt(session, THREAD).catch(() => undefined);
    const answers = answerAll(agent);
    if (text.includes('hang')) agent.notify('session/cancel', { sessionId: session });
    const answer = await answered;
    if (text.includes('die: SIGKILL')) {
      expect(await agent.exited).toEqual({ code: null, signal: 'SIGKILL' });
      expect(answer).toBeUndefined();
    } else if (text.includes('error: {')) {
      expect(answer?.['error']).toEqual({ code: 401, message: 'Who are you?', data: { retry: false } });
    } else {
      expect(answer, agent.stderr()).toHaveProperty('result.stopReason');
    }
    agent.kill('SIGKILL');
    await answers;
  });
});

/** Says yes to every request that the agent makes, until it ends. */
async function answerAll(agent: ReturnType<typeof startAgent>): Promise<void> {
  const done = new Set<object>();
  for (;;) {
    const request = await agent
      .frame((frame) => frame['method'] !== undefined && frame['id'] !== undefined && !done.has(frame))
      .catch(() => undefined);
    if (request === undefined) return;
    done.add(request);
    const result = request['method'] === 'session/request_permission'
      ? { outcome: { outcome: 'selected', optionId: 'allow-once' } }
      : { content: '' };
    agent.send({ id: request['id'], result });
  }
}
