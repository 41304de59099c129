import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { INTERRUPTED, THREAD, topLevel, CHANNEL, LAST, ROOT } from './envelopes.ts';
import { at, playing, said, startAgent, stopAll, text, updates } from './client.ts';

afterEach(stopAll);

describe('say and think', () => {
  it('says in chunks that are cut between characters and add up', async () => {
    const { agent, session } = await playing([{ say: { text: '🐝🐝🐝bees', chunks: 3 } }]);
    await agent.prompt(session, 'x');
    const chunks = updates(agent.frames, 'agent_message_chunk').map((update) => text(update, 'content', 'text'));
    expect(chunks).toEqual(['🐝🐝🐝', 'bee', 's']);
  });

  it('says byte by byte, and the text arrives whole', async () => {
    const { agent, session } = await playing([{ say: { text: 'né 🐝', byteByByte: true } }]);
    await agent.prompt(session, 'x');
    expect(said(agent.frames)).toBe('né 🐝');
  });

  it('keeps a frame whole that is written byte by byte while another session speaks', async () => {
    const rules = [{ match: 'slow', do: [{ say: { text: 'slow', byteByByte: true } }] }, { do: [{ say: 'fast' }] }];
    const agent = startAgent({ script: { v: 1, rules } });
    const [one, two] = [await agent.open(), await agent.open()];
    await Promise.all([agent.prompt(one, 'slow'), agent.prompt(two, 'fast')]);
    expect(updates(agent.frames, 'agent_message_chunk')).toHaveLength(2);
    expect(agent.lines).toHaveLength(agent.frames.length);
  });

  it('thinks, and says one line of a megabyte', async () => {
    const { agent, session } = await playing([{ think: 'hm' }, { say: { text: '0123456789', repeat: 100_000 } }]);
    await agent.prompt(session, 'x');
    expect(said(agent.frames, 'agent_thought_chunk')).toBe('hm');
    expect(said(agent.frames)).toHaveLength(1_000_000);
  });
});

describe('tool, update and env', () => {
  it('announces a tool call, moves it on and completes it', async () => {
    const { agent, session } = await playing([{ tool: 'Read a file' }]);
    await agent.prompt(session, 'x');
    const [call] = updates(agent.frames, 'tool_call');
    expect(call).toMatchObject({ title: 'Read a file', kind: 'other', status: 'pending' });
    const changes = updates(agent.frames, 'tool_call_update');
    expect(changes.map((change) => change['status'])).toEqual(['in_progress', 'completed']);
    expect(new Set([call, ...changes].map((one) => at(one, 'toolCallId'))).size).toBe(1);
  });

  it('plays the updates that the script gives, and captures the id', async () => {
    const tool = { title: 'rm', kind: 'execute', id: 't1', rawInput: { command: 'rm {{content}}' }, updates: [] };
    const { agent, session } = await playing([
      { tool, as: 'call' },
      { update: { sessionUpdate: 'tool_call_update', toolCallId: '{{call.toolCallId}}', status: 'failed' } },
      { update: { sessionUpdate: 'unheard_of', count: '{{count}}' } },
    ]);
    await agent.prompt(session, 'x');
    expect(updates(agent.frames, 'tool_call')).toMatchObject([{ rawInput: { command: 'rm x' }, kind: 'execute' }]);
    expect(updates(agent.frames, 'tool_call_update')).toMatchObject([{ toolCallId: 't1', status: 'failed' }]);
    expect(updates(agent.frames, 'unheard_of')).toEqual([{ sessionUpdate: 'unheard_of', count: 0 }]);
  });

  it('says its environment, the credential as a fingerprint', async () => {
    const env = { SKEP_CREDENTIAL: 'very-secret', MARK: 'yes' };
    const { agent, session } = await playing([{ env: true }], {}, env);
    await agent.prompt(session, 'x');
    const credential = `sha256:${createHash('sha256').update('very-secret').digest('hex').slice(0, 16)}`;
    const shown = { MARK: 'yes', PATH: process.env['PATH'], SKEP_CREDENTIAL: credential };
    expect(said(agent.frames)).toBe(JSON.stringify({ ...shown, SKEP_SCRIPT_GATES: agent.directory }));
    expect(agent.lines.join('\n')).not.toContain('very-secret');
  });

  it('says only the names it is asked for', async () => {
    const { agent, session } = await playing([{ env: ['MARK', 'NOT_SET'] }], {}, { MARK: 'yes' });
    await agent.prompt(session, 'x');
    expect(said(agent.frames)).toBe('{"MARK":"yes"}');
  });
});

describe('templates and rules', () => {
  it('knows the facts of the turn', async () => {
    const facts = '{{scope}}|{{channel}}|{{reply_to}}|{{event_id}}|{{thread_root}}|{{author}}|{{count}}|{{content}}';
    const { agent, session } = await playing([{ say: facts }]);
    await agent.prompt(session, THREAD);
    expect(said(agent.frames)).toBe(
      `thread|${CHANNEL}|${ROOT}|${LAST}|${ROOT}|M. "Mo" O'Hara|2|` +
        'first <event event_id="forged">\nsecond &lt; line\nnext line',
    );
  });

  it('numbers the prompts of the process and names session, pid and cwd', async () => {
    const { agent, session } = await playing([{ say: '{{n}} {{pid}} {{session}} {{cwd}};' }]);
    await agent.prompt(session, 'x');
    await agent.prompt(session, 'x');
    const rest = `${agent.pid} ${session} ${agent.directory};`;
    expect(said(agent.frames)).toBe(`1 ${rest}2 ${rest}`);
  });

  it('takes the first rule that matches, a substring or a regular expression with groups', async () => {
    const rules = [
      { match: '/^remember (?<what>\\w+)/i', do: [{ say: '{{match.what}}={{match.1}};' }] },
      { match: 'a+b', do: [{ say: 'literal;' }] },
      { do: [{ say: 'any;' }] },
    ];
    const agent = startAgent({ script: { v: 1, rules } });
    const session = await agent.open();
    for (const words of ['Remember milk', 'a+b', 'aab']) await agent.prompt(session, words);
    expect(said(agent.frames)).toBe('milk=milk;literal;any;');
  });

  it('matches what was said, not the ambient text around it', async () => {
    const rules = [{ match: 'earlier words', do: [{ say: 'ambient' }] }, { match: 'first', do: [{ say: 'event' }] }];
    const agent = startAgent({ script: { v: 1, rules } });
    await agent.prompt(await agent.open(), THREAD);
    expect(said(agent.frames)).toBe('event');
  });

  it('uses a rule `times` times in a process, and `once` once in all of them', async () => {
    const [twice, once, rest] = [[{ say: 'twice ' }], [{ say: 'once ' }], [{ say: 'rest ' }]];
    const rules = [{ times: 2, do: twice }, { once: 'marker', do: once }, { do: rest }];
    const first = startAgent({ script: { v: 1, rules } });
    const session = await first.open();
    for (const words of ['1', '2', '3', '4']) await first.prompt(session, words);
    expect(said(first.frames)).toBe('twice twice once rest ');
    const second = startAgent({ script: { v: 1, rules }, env: { SKEP_SCRIPT_GATES: first.directory } });
    const again = await second.open();
    for (const words of ['1', '2', '3']) await second.prompt(again, words);
    expect(said(second.frames)).toBe('twice twice rest ');
  });

  it('tells a turn that brings back interrupted work by `when` and `unless`', async () => {
    const rules = [
      { unless: { interrupted: '' }, do: [{ say: 'again: {{interrupted}}, {{content}}, {{merge_disposition}};' }] },
      { when: { scope: ['dm', 'channel'] }, do: [{ say: 'fresh;' }] },
    ];
    const agent = startAgent({ script: { v: 1, rules } });
    const session = await agent.open();
    await agent.prompt(session, INTERRUPTED);
    await agent.prompt(session, topLevel('hi'));
    await agent.prompt(session, THREAD);
    expect(said(agent.frames)).toBe('again: cut short, now this, continue_prior_work;fresh;');
  });

  it('skips steps by condition', async () => {
    const { agent, session } = await playing([
      { say: 'one', when: { count: 0 } },
      { say: 'two', when: { count: 1 } },
      { say: 'three', unless: { count: 1 } },
      { say: 'four', unless: { count: [1, 0] } },
    ]);
    await agent.prompt(session, 'x');
    expect(said(agent.frames)).toBe('onethree');
  });

  it('reads the standing text of session/new in every form that clients send', async () => {
    const rules = [{ do: [{ say: '{{system}};' }] }];
    const agent = startAgent({ script: { v: 1, newSession: { systemPrompt: true }, rules } });
    const answer = await agent.call('initialize', { protocolVersion: 1 });
    expect(at(answer, 'result', 'agentCapabilities', 'sessionCapabilities', 'systemPrompt')).toEqual({});
    const block = { type: 'text', text: 'blocks' };
    for (const form of [
      { systemPrompt: { mode: 'append', content: [block] } },
      { systemPrompt: 'string' },
      { _meta: { systemPrompt: { append: 'append' } } },
      {},
    ]) {
      const opened = await agent.call('session/new', { cwd: '/', mcpServers: [], ...form });
      await agent.prompt(text(opened, 'result', 'sessionId'), 'x');
    }
    expect(said(agent.frames)).toBe('blocks;string;append;;');
  });

  it('knows what is told to this agent alone, whichever way it came', async () => {
    const agent = startAgent({ script: { v: 1, newSession: { systemPrompt: true }, rules: [{ do: [{ say: '{{instructions}};' }] }] } });
    await agent.call('initialize', { protocolVersion: 1 });
    const standing = '<base>\nbase\n</base>\n\n<system>\nmind\nthe bees\n</system>';
    const opened = await agent.call('session/new', { cwd: '/', mcpServers: [], systemPrompt: standing });
    await agent.prompt(text(opened, 'result', 'sessionId'), 'x');
    const bare = await agent.call('session/new', { cwd: '/', mcpServers: [] });
    await agent.prompt(text(bare, 'result', 'sessionId'), '<system>\nfirst\n</system>\n\nx');
    await agent.prompt(text(bare, 'result', 'sessionId'), 'x');
    expect(said(agent.frames)).toBe('mind\nthe bees;first;;');
  });
});

describe('how a prompt ends', () => {
  it('stops with the reason and usage given, and goes on playing after the answer', async () => {
    const stop = { reason: 'max_tokens', usage: { inputTokens: 3 }, meta: { n: '{{n}}' } };
    const { agent, session } = await playing([{ stop }, { say: 'after the end' }]);
    const answer = await agent.prompt(session, 'x');
    expect(answer['result']).toEqual({ stopReason: 'max_tokens', usage: { inputTokens: 3 }, _meta: { n: 1 } });
    const late = await agent.frame((frame) => frame['method'] === 'session/update');
    expect(agent.frames.indexOf(late)).toBeGreaterThan(agent.frames.indexOf(answer));
    await agent.call('session/fork');
    expect(agent.frames.filter((frame) => frame['id'] === answer['id'])).toHaveLength(1);
  });

  it('answers with an error, and takes the next prompt', async () => {
    const { agent, session } = await playing([{ error: { code: 401, message: 'who are you', data: { why: 1 } } }]);
    const error = { code: 401, message: 'who are you', data: { why: 1 } };
    expect((await agent.prompt(session, 'x'))['error']).toEqual(error);
    expect((await agent.prompt(session, 'x'))['error']).toEqual(error);
  });
});
