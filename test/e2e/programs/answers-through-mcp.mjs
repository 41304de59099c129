/**
 * An ACP agent that knows nothing of skep: it starts the MCP server it is handed, reads the channel with one tool and
 * answers with another, after a sign of life for the turn that its prompt names. It tells its session what servers it was given, and forgets its own environment first.
 */
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

for (const name of Object.keys(process.env)) if (name.startsWith('SKEP_')) delete process.env[name];

let servers = [];

function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

function say(text) {
  const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } };
  send({ method: 'session/update', params: { sessionId: 's', update } });
}

async function answer({ prompt, _meta }) {
  const text = prompt.map((block) => block.text).join('\n');
  const channelId = /channel_id="([0-9a-f-]{36})"/.exec(text)?.[1];
  const replyToEventId = /reply_to="([0-9a-f]{64})"/.exec(text)?.[1];
  const [buzz] = servers;
  if (buzz === undefined) return say('I was given no server.');
  const env = Object.fromEntries(buzz.env.map(({ name, value }) => [name, value]));
  const client = new Client({ name: 'stock', version: '1' });
  await client.connect(new StdioClientTransport({ command: buzz.command, args: buzz.args, env }));
  const alive = await client.callTool({ name: 'liveness_ping', arguments: { channelId, turnId: _meta.skep.turnId } });
  if (alive.isError) return say(alive.content[0].text);
  const page = await client.callTool({ name: 'channel_read', arguments: { channelId } });
  const heard = /\| (say .*)/.exec(page.content[0].text)?.[1] ?? page.content[0].text;
  const replied = await client.callTool({
    name: 'message_reply', arguments: { channelId, replyToEventId, content: `${buzz.name} heard: ${heard}` },
  });
  if (replied.isError) say(replied.content[0].text);
  await client.close();
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') send({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
  if (method === 'session/new') {
    servers = params.mcpServers;
    send({ id, result: { sessionId: 's' } });
  }
  if (method === 'session/prompt') {
    await answer(params);
    send({ id, result: { stopReason: 'end_turn' } });
  }
}
