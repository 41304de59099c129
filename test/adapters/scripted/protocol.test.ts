import { existsSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { at, playing, said, startAgent, stopAll } from './client.ts';

afterEach(stopAll);

const quiet = { v: 1, rules: [{ do: [] }] };

describe('the protocol', () => {
  it('answers initialize with version 1, whatever version was asked for', async () => {
    const agent = startAgent({ script: quiet });
    const answer = await agent.call('initialize', { protocolVersion: 99, clientCapabilities: {} });
    const agentInfo = { name: 'skep-scripted' };
    expect(answer['result']).toMatchObject({ protocolVersion: 1, agentInfo, authMethods: [] });
  });

  it('opens sessions with ids of their own, and only with an absolute cwd and a list of MCP servers', async () => {
    const agent = startAgent({ script: quiet });
    expect(at(await agent.call('session/new', { cwd: '/', mcpServers: [] }), 'error', 'code')).toBe(-32600);
    const [first, second] = [await agent.open(), await agent.open()];
    expect(first).not.toBe(second);
    expect(at(await agent.call('session/new', { cwd: 'here', mcpServers: [] }), 'error', 'code')).toBe(-32602);
    expect(at(await agent.call('session/new', { cwd: '/' }), 'error', 'code')).toBe(-32602);
  });

  it('answers a prompt with end_turn when the steps are played, also where no rule matches', async () => {
    const agent = startAgent({ script: { v: 1, rules: [{ match: 'hello', do: [{ say: 'hi' }] }] } });
    const session = await agent.open();
    expect((await agent.prompt(session, 'hello'))['result']).toEqual({ stopReason: 'end_turn' });
    expect(said(agent.frames)).toBe('hi');
    expect((await agent.prompt(session, 'other'))['result']).toEqual({ stopReason: 'end_turn' });
    expect(said(agent.frames)).toBe('hi');
    await agent.stderrText('no rule matches');
  });

  it('refuses an unknown method, an unknown session and a prompt that is no list', async () => {
    const { agent, session } = await playing([]);
    expect(at(await agent.call('session/fork', {}), 'error', 'code')).toBe(-32601);
    expect(at(await agent.prompt('nobody', 'x'), 'error', 'code')).toBe(-32002);
    expect(at(await agent.call('session/prompt', { sessionId: session }), 'error', 'code')).toBe(-32602);
  });

  it('ignores lines that are not JSON objects, unknown notifications and responses to nothing', async () => {
    const agent = startAgent({ script: quiet });
    agent.write('hello?\n\n[1,2]\n"text"\n{"jsonrpc":"2.0","id":77,"result":{}}\n');
    agent.notify('who/knows', {});
    await agent.call('initialize', { protocolVersion: 1 });
    expect(agent.frames).toHaveLength(1);
  });

  it('reads frames that arrive a byte at a time, emoji included', async () => {
    const { agent, session } = await playing([{ say: '{{content}}' }]);
    const frame = { jsonrpc: '2.0', id: 1, method: 'session/prompt' };
    const params = { sessionId: session, prompt: [{ type: 'text', text: '🐝 né' }] };
    for (const byte of Buffer.from(`${JSON.stringify({ ...frame, params })}\n`)) agent.write(Uint8Array.of(byte));
    await agent.frame((one) => one['id'] === 1);
    expect(said(agent.frames)).toBe('🐝 né');
  });

  it('exits with 0 when stdin ends, also while a prompt hangs', async () => {
    const { agent, session } = await playing([{ say: 'here' }, { hang: true }]);
    agent.prompt(session, 'x').catch(() => undefined);
    await agent.frame((frame) => frame['method'] === 'session/update');
    agent.endStdin();
    expect(await agent.exited).toEqual({ code: 0, signal: null });
  });

  it('answers what was asked before stdin ended', async () => {
    const agent = startAgent({ script: quiet });
    const answer = agent.call('initialize', { protocolVersion: 1 });
    agent.endStdin();
    expect(at(await answer, 'result', 'protocolVersion')).toBe(1);
  });

  it('runs two sessions beside each other, but one prompt at a time in each', async () => {
    const rules = [{ match: 'long', do: [{ wait: 'go' }, { say: 'late' }] }, { do: [{ say: 'soon' }, { mark: 'go' }] }];
    const agent = startAgent({ script: { v: 1, rules } });
    const [one, two] = [await agent.open(), await agent.open()];
    const long = agent.prompt(one, 'long');
    expect(at(await agent.prompt(one, 'again'), 'error', 'code')).toBe(-32600);
    await agent.prompt(two, 'short');
    expect((await long)['result']).toEqual({ stopReason: 'end_turn' });
    expect(said(agent.frames)).toBe('soonlate');
  });

  it('gives a script-given answer for a method it does not speak, and knows sessions that were loaded', async () => {
    const error = { code: 7, message: 'no' };
    const answers = { 'session/load': { result: { modes: null } }, 'session/close': { error } };
    const { agent } = await playing([{ say: '{{session}}' }], { answers });
    expect((await agent.call('session/load', { sessionId: 'old', cwd: '/', mcpServers: [] }))['result']).toEqual({
      modes: null,
    });
    await agent.prompt('old', 'x');
    expect(said(agent.frames)).toBe('old');
    expect((await agent.call('session/close', {}))['error']).toEqual(error);
  });
});

describe('cancel', () => {
  it.each([
    ['a hang', { hang: true }],
    ['a sleep', { sleep: 3_600_000 }],
    ['a gate', { wait: 'never' }],
    ['a signal', { wait: { signal: 'SIGUSR2' } }],
    ['a permission', { ask: 'may I?' }],
  ])('ends %s at once with cancelled, and plays no later step', async (_, step) => {
    const { agent, session } = await playing([{ say: 'ready' }, step, { say: 'never' }]);
    const answer = agent.prompt(session, 'x');
    await agent.frame((frame) => frame['method'] === 'session/update');
    agent.notify('session/cancel', { sessionId: session });
    expect((await answer)['result']).toEqual({ stopReason: 'cancelled' });
    expect(said(agent.frames)).not.toContain('never');
  });

  it('plays nothing of the cancelled turn afterwards', async () => {
    const rules = [{ match: 'slow', do: [{ say: 'x' }, { sleep: 3_600_000 }, { mark: 'late' }] }, { do: [] }];
    const agent = startAgent({ script: { v: 1, rules } });
    const session = await agent.open();
    const answer = agent.prompt(session, 'slow');
    await agent.frame((frame) => frame['method'] === 'session/update');
    agent.notify('session/cancel', { sessionId: session });
    await answer;
    await agent.prompt(session, 'next');
    expect(existsSync(`${agent.directory}/late`)).toBe(false);
  });

  it('leaves the session ready for the next prompt, and a late permission answer without effect', async () => {
    const rules = [{ match: 'ask', do: [{ ask: 'may I?' }, { say: 'asked' }] }, { do: [{ say: 'next' }] }];
    const agent = startAgent({ script: { v: 1, rules } });
    const session = await agent.open();
    const answer = agent.prompt(session, 'ask');
    const request = await agent.frame((frame) => frame['method'] === 'session/request_permission');
    agent.notify('session/cancel', { sessionId: session });
    await answer;
    agent.send({ id: request['id'], result: { outcome: { outcome: 'selected', optionId: 'allow-once' } } });
    expect((await agent.prompt(session, 'go on'))['result']).toEqual({ stopReason: 'end_turn' });
    expect(said(agent.frames)).toBe('next');
  });

  it('plays onCancel first; its stop is the answer', async () => {
    const { agent, session } = await playing([{ mark: 'there' }, { say: 'x' }, { hang: true }], {
      onCancel: [{ say: 'stopping' }, { stop: 'end_turn' }],
    });
    const answer = agent.prompt(session, 'x');
    await agent.frame((frame) => frame['method'] === 'session/update');
    agent.notify('session/cancel', { sessionId: session });
    expect((await answer)['result']).toEqual({ stopReason: 'end_turn' });
    expect(said(agent.frames)).toBe('xstopping');
  });

  it('waits for the permission answer where the script says so', async () => {
    const onCancel = { waitForAsks: true };
    const { agent, session } = await playing([{ ask: 'may I?' }, { say: 'never' }], { onCancel });
    const answer = agent.prompt(session, 'x');
    const request = await agent.frame((frame) => frame['method'] === 'session/request_permission');
    agent.notify('session/cancel', { sessionId: session });
    // Two round trips: what a cancel had answered at once would be here by the second.
    await agent.call('session/fork');
    await agent.call('session/fork');
    expect(agent.frames.some((frame) => at(frame, 'result', 'stopReason') !== undefined)).toBe(false);
    agent.send({ id: request['id'], result: { outcome: { outcome: 'cancelled' } } });
    expect((await answer)['result']).toEqual({ stopReason: 'cancelled' });
    expect(said(agent.frames)).toBe('');
  });

  it('is not heard after ignoreCancel', async () => {
    const steps = [{ ignoreCancel: true }, { say: 'deaf' }, { wait: 'go' }, { say: ' done' }];
    const { agent, session } = await playing(steps);
    const answer = agent.prompt(session, 'x');
    await agent.frame((frame) => frame['method'] === 'session/update');
    agent.notify('session/cancel', { sessionId: session });
    // Read after the cancel: frames are handled in order.
    await agent.call('session/new', { cwd: agent.directory, mcpServers: [] });
    writeFileSync(`${agent.directory}/go`, '');
    expect((await answer)['result']).toEqual({ stopReason: 'end_turn' });
    expect(said(agent.frames)).toBe('deaf done');
  });
});
