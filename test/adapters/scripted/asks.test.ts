import { afterEach, describe, expect, it } from 'vitest';
import { at, playing, said, startAgent, stopAll } from './client.ts';

afterEach(stopAll);

const tell = { say: '{{verdict.outcome}} {{verdict.optionId}} {{verdict.kind}}' };

describe('ask', () => {
  it('asks with the two usual options, and uses the answer in later steps', async () => {
    const { agent, session } = await playing([
      { ask: 'rm -rf {{content}}', as: 'verdict' },
      { say: 'removed', when: { 'verdict.kind': ['allow_once', 'allow_always'] } },
      { say: 'kept', unless: { 'verdict.kind': ['allow_once', 'allow_always'] } },
    ]);
    const answer = agent.prompt(session, '/tmp/x');
    const request = await agent.frame((frame) => frame['method'] === 'session/request_permission');
    expect(request).toMatchObject({
      id: 0,
      params: {
        sessionId: session,
        toolCall: { title: 'rm -rf /tmp/x', kind: 'execute', status: 'pending' },
        options: [{ optionId: 'allow-once', kind: 'allow_once' }, { optionId: 'reject-once', kind: 'reject_once' }],
      },
    });
    agent.send({ id: 0, result: { outcome: { outcome: 'selected', optionId: 'reject-once' } } });
    await answer;
    expect(said(agent.frames)).toBe('kept');
  });

  it.each([0, '', 7, '7', '0e6f7a3c-9d3b-4a55-8f7e-2a5b3c1d4e5f', null])('asks under the id %j', async (id) => {
    const { agent, session } = await playing([{ ask: { title: 'may I?', id }, as: 'verdict' }, tell]);
    const answer = agent.prompt(session, 'x');
    const request = await agent.frame((frame) => frame['method'] === 'session/request_permission');
    expect(request['id']).toBe(id);
    // The same number of another type is another id.
    agent.send({ id: typeof id === 'number' ? String(id) : 7, result: { outcome: { outcome: 'cancelled' } } });
    agent.send({ id, result: { outcome: { outcome: 'selected', optionId: 'allow-once' } } });
    await answer;
    expect(said(agent.frames)).toBe('selected allow-once allow_once');
  });

  it('asks under the same id again once that one is answered, and refuses to while it waits', async () => {
    const ask = { title: 'may I?', id: '7' };
    const agent = startAgent({ script: { v: 1, rules: [{ do: [{ ask }] }] } });
    const [one, two] = [await agent.open(), await agent.open()];
    for (const count of [1, 2]) {
      const answer = agent.prompt(one, 'x');
      await agent.frame(() => agent.frames.filter((frame) => frame['id'] === '7').length === count);
      if (count === 2) expect(at(await agent.prompt(two, 'x'), 'error', 'message')).toContain('"7" is already waiting');
      agent.send({ id: '7', result: { outcome: { outcome: 'cancelled' } } });
      expect(at(await answer, 'result', 'stopReason')).toBe('end_turn');
    }
  });

  it('sends odd options, and members of the tool call, as the script has them', async () => {
    const options = [{ optionId: 'x', name: 'X', kind: 'allow_forever' }, { optionId: 'x', name: 'again', kind: '' }];
    const toolCall = { rawInput: { command: '{{content}}' }, status: null };
    const { agent, session } = await playing([
      { ask: { title: 't', kind: 'edit', toolCallId: 'c1', toolCall, options }, as: 'verdict' },
      tell,
    ]);
    const answer = agent.prompt(session, 'ls');
    const { id = null, params = null } = await agent.frame((frame) => frame['method'] === 'session/request_permission');
    expect(params).toMatchObject({
      toolCall: { toolCallId: 'c1', kind: 'edit', rawInput: { command: 'ls' }, status: null },
      options,
    });
    agent.send({ id, result: { outcome: { outcome: 'selected', optionId: 'never offered' } } });
    await answer;
    expect(said(agent.frames)).toBe('selected never offered ');
  });

  it('takes an error, a cancelled outcome and nonsense as answers too', async () => {
    const { agent, session } = await playing([
      { ask: 'one', as: 'a' },
      { ask: 'two', as: 'b' },
      { ask: 'three', as: 'c' },
      { say: '{{a.outcome}} {{a.code}}, {{b.outcome}}, {{c.outcome}}' },
    ]);
    const answer = agent.prompt(session, 'x');
    const asked = (id: number) => agent.frame((frame) => frame['method'] !== undefined && frame['id'] === id);
    await asked(0);
    agent.send({ id: 0, error: { code: -32603, message: 'no' } });
    await asked(1);
    agent.send({ id: 1, result: { outcome: { outcome: 'cancelled' } } });
    await asked(2);
    agent.send({ id: 2, result: 'what?' });
    await answer;
    expect(said(agent.frames)).toBe('error -32603, cancelled, malformed');
  });

  it('does not hold up another session while it waits', async () => {
    const rules = [{ match: 'ask', do: [{ ask: 'may I?' }] }, { do: [{ say: 'free' }] }];
    const agent = startAgent({ script: { v: 1, rules } });
    const [one, two] = [await agent.open(), await agent.open()];
    const asking = agent.prompt(one, 'ask');
    const { id = null } = await agent.frame((frame) => frame['method'] === 'session/request_permission');
    await agent.prompt(two, 'say');
    expect(said(agent.frames)).toBe('free');
    agent.send({ id, result: { outcome: { outcome: 'cancelled' } } });
    expect(at(await asking, 'result', 'stopReason')).toBe('end_turn');
  });
});

describe('request and notify', () => {
  it('sends any request and captures its result or error', async () => {
    const params = { sessionId: '{{session}}', path: '/x' };
    const { agent, session } = await playing([
      { request: { method: 'fs/read_text_file', params, id: 'r1' }, as: 'file' },
      { request: { method: 'no/such' }, as: 'none' },
      { say: '{{file.result.content}} {{none.outcome}} {{none.code}}' },
    ]);
    const answer = agent.prompt(session, 'x');
    expect(await agent.frame((frame) => frame['id'] === 'r1')).toMatchObject({
      method: 'fs/read_text_file',
      params: { sessionId: session, path: '/x' },
    });
    agent.send({ id: 'r1', result: { content: 'text' } });
    await agent.frame((frame) => frame['method'] === 'no/such');
    agent.send({ id: 0, error: { code: -32601, message: 'method not found' } });
    await answer;
    expect(said(agent.frames)).toBe('text error -32601');
  });

  it('sends any notification, with its templates filled', async () => {
    const params = { n: '{{n}}', all: ['{{content}}'] };
    const { agent, session } = await playing([{ notify: { method: '_x/said', params } }]);
    await agent.prompt(session, 'hello');
    expect(agent.frames.find((frame) => frame['method'] === '_x/said')?.['params']).toEqual({ n: 1, all: ['hello'] });
  });
});
