/** The ACP SDK's own client talks to the agent: code that knows nothing of it, and checks every frame's schema. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { client, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk';
import { expect, it } from 'vitest';
import { commandLine, findAdapter } from '../../../adapters/index.ts';
import { temporaryDirectory } from '../../setup/temp.ts';

it('holds a whole conversation with the SDK’s client', async () => {
  const directory = temporaryDirectory();
  const script = join(directory, 'script.json');
  const rules = [
    { match: 'wait', do: [{ hang: true }] },
    {
      do: [
        { think: 'hm' },
        { tool: { title: 'look', kind: 'read' } },
        { ask: 'may I?', as: 'verdict' },
        { say: { text: 'you said {{content}}, and {{verdict.kind}}', chunks: 2 } },
      ],
    },
  ];
  writeFileSync(script, JSON.stringify({ v: 1, rules }));
  const profile = findAdapter('scripted');
  if (profile === undefined) throw new Error('scripted is not in the catalogue');
  const { command, args } = commandLine(profile, process.execPath, [script]);
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'], env: {} });
  const exited = once(child, 'exit');

  const heard: string[] = [];
  const connection = client({ name: 'stranger' })
    .onRequest('session/request_permission', ({ params }) => {
      const option = params.options.find(({ kind }) => kind === 'reject_once');
      return { outcome: { outcome: 'selected', optionId: option?.optionId ?? 'none' } };
    })
    .onNotification('session/update', ({ params: { update } }) => {
      const isText = update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text';
      heard.push(isText && update.content.type === 'text' ? update.content.text : update.sessionUpdate);
    })
    .connect(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)));
  try {
    const { agent } = connection;
    const ready = await agent.request('initialize', { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} });
    expect(ready.protocolVersion).toBe(1);
    const { sessionId } = await agent.request('session/new', { cwd: directory, mcpServers: [] });
    const prompt = (text: string) => agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
    expect(await prompt('hello')).toMatchObject({ stopReason: 'end_turn' });
    expect(heard.slice(0, 4)).toEqual(['agent_thought_chunk', 'tool_call', 'tool_call_update', 'tool_call_update']);
    expect(heard.slice(4).join('')).toBe('you said hello, and reject_once');

    const hanging = prompt('wait');
    await agent.notify('session/cancel', { sessionId });
    expect(await hanging).toMatchObject({ stopReason: 'cancelled' });
    await expect(agent.request('session/set_mode', { sessionId, modeId: 'x' })).rejects.toMatchObject({ code: -32601 });
  } finally {
    connection.close();
    child.stdin.end();
    expect(await exited).toEqual([0, null]);
  }
});
