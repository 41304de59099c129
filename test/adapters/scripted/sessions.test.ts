/** Sessions that outlive their process, and what can be chosen in one. */
import { afterEach, describe, expect, it } from 'vitest';
import { at, said, startAgent, stopAll } from './client.ts';
import type { Client, Frame } from './client.ts';

afterEach(stopAll);

const RULES = [{ do: [{ say: '{{turns}} {{content}}' }] }];

/** Another process that has the first one's files. */
function after(before: Client, script: object): Client {
  return startAgent({ script, env: { SKEP_SCRIPT_GATES: before.directory } });
}

async function reopen(agent: Client, method: string, sessionId: string): Promise<Frame> {
  await agent.call('initialize', { protocolVersion: 1 });
  return agent.call(method, { sessionId, cwd: '/', mcpServers: [] });
}

describe('sessions of a script', () => {
  it('are advertised as it says', async () => {
    const agent = startAgent({ script: { v: 1, sessions: { load: true, resume: true, close: true }, newSession: { systemPrompt: true }, rules: RULES } });
    expect(at(await agent.call('initialize', { protocolVersion: 1 }), 'result', 'agentCapabilities')).toEqual({
      loadSession: true, promptCapabilities: {}, sessionCapabilities: { systemPrompt: {}, resume: {}, close: {} },
    });
  });

  it('are loaded by a later process: what was said comes before the answer', async () => {
    const script = { v: 1, sessions: { load: true }, newSession: { modes: { currentModeId: 'a', availableModes: [{ id: 'a' }] } }, rules: RULES };
    const before = startAgent({ script });
    const session = await before.open();
    await before.prompt(session, 'hello');
    before.kill('SIGKILL');
    const agent = after(before, script);
    expect((await reopen(agent, 'session/load', session))['result']).toEqual(script.newSession);
    expect(agent.frames.slice(1, -1).map((frame) => [at(frame, 'params', 'update', 'sessionUpdate'), at(frame, 'params', 'update', 'content', 'text')])).toEqual([
      ['user_message_chunk', 'hello'], ['agent_message_chunk', '1 hello'],
    ]);
    await agent.prompt(session, 'again');
    expect(said(agent.frames)).toBe('1 hello2 again');
  });

  it('are resumed without a word', async () => {
    const script = { v: 1, sessions: { resume: true }, rules: RULES };
    const before = startAgent({ script });
    const session = await before.open();
    await before.prompt(session, 'hello');
    const agent = after(before, script);
    expect((await reopen(agent, 'session/resume', session))['result']).toEqual({});
    expect(agent.frames).toHaveLength(2);
    await agent.prompt(session, 'again');
    expect(said(agent.frames)).toBe('2 again');
  });

  it('are not known where they were never begun, and no more once they are closed, until they are loaded', async () => {
    const agent = startAgent({ script: { v: 1, sessions: { load: true, close: true }, rules: RULES } });
    const session = await agent.open();
    expect(at(await agent.call('session/load', { sessionId: 'nobody', cwd: '/', mcpServers: [] }), 'error', 'code')).toBe(-32002);
    expect((await agent.call('session/close', { sessionId: session }))['result']).toEqual({});
    expect(at(await agent.prompt(session, 'x'), 'error', 'code')).toBe(-32002);
    expect(at(await agent.call('session/close', { sessionId: session }), 'error', 'code')).toBe(-32002);
    await agent.call('session/load', { sessionId: session, cwd: '/', mcpServers: [] });
    expect((await agent.prompt(session, 'x'))['result']).toEqual({ stopReason: 'end_turn' });
  });

  it('can be answered with an error, never, or by its death', async () => {
    const sessions = { load: true };
    const failing = startAgent({ script: { v: 1, sessions, rules: RULES, answers: { 'session/load': { error: { code: -32603, message: 'no' } } } } });
    expect(at(await reopen(failing, 'session/load', 'x'), 'error', 'code')).toBe(-32603);
    const dying = startAgent({ script: { v: 1, sessions, rules: RULES, answers: { 'session/load': { die: 3 } } } });
    await expect(reopen(dying, 'session/load', 'x')).rejects.toThrow('ended');
    expect(await dying.exited).toMatchObject({ code: 3 });
    const silent = startAgent({ script: { v: 1, sessions, rules: RULES, answers: { 'session/load': { never: true } } } });
    const session = await silent.open();
    silent.send({ id: 'load', method: 'session/load', params: { sessionId: session, cwd: '/', mcpServers: [] } });
    await silent.prompt(session, 'x');
    expect(silent.frames.some((frame) => frame['id'] === 'load')).toBe(false);
  });
});

describe('settings of a session', () => {
  const configOptions = [
    { id: 'model', category: 'model', currentValue: 's', options: [{ value: 's' }, { value: 'l' }] },
    { configId: 'think', category: 'thought_level', currentValue: 'low', options: [{ value: 'low' }, { value: 'high' }] },
  ];
  const modes = { currentModeId: 'ask', availableModes: [{ id: 'ask' }, { id: 'code' }] };
  const script = { v: 1, newSession: { configOptions, modes }, rules: [{ do: [{ say: '{{model}} {{mode}} {{effort}}' }] }] };

  it('are those it was opened with, until others are chosen', async () => {
    const agent = startAgent({ script });
    const sessionId = await agent.open();
    await agent.prompt(sessionId, 'x');
    expect(said(agent.frames)).toBe('s ask low');
    await agent.call('session/set_mode', { sessionId, modeId: 'code' });
    await agent.call('session/set_config_option', { sessionId, configId: 'model', value: 'l' });
    const answer = await agent.call('session/set_config_option', { sessionId, configId: 'think', value: 'high' });
    expect(answer['result']).toMatchObject({ configOptions: [{ currentValue: 'l' }, { currentValue: 'high' }] });
    await agent.prompt(sessionId, 'x');
    expect(said(agent.frames)).toBe('s ask lowl code high');
  });

  it('are refused where they are not offered', async () => {
    const agent = startAgent({ script });
    const sessionId = await agent.open();
    expect(at(await agent.call('session/set_mode', { sessionId, modeId: 'x' }), 'error', 'code')).toBe(-32602);
    expect(at(await agent.call('session/set_config_option', { sessionId, configId: 'think', value: 'x' }), 'error', 'code')).toBe(-32602);
    expect(at(await agent.call('session/set_config_option', { sessionId, configId: 'x', value: 'x' }), 'error', 'code')).toBe(-32601);
    expect(at(await agent.call('session/set_model', { sessionId, modelId: 'l' }), 'error', 'code')).toBe(-32601);
  });
});
