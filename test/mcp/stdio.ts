/** `skep mcp` as a process of its own, spoken to by the MCP SDK's own client over stdio. */
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { onTestFinished } from 'vitest';
import { CREDENTIAL } from '../broker/client/endpoint.ts';

const LAUNCHER = fileURLToPath(new URL('../../bin/skep.js', import.meta.url));

export interface ToolAnswer {
  readonly text: string;
  readonly isError: boolean;
}

export interface Model {
  readonly client: Client;
  readonly call: (name: string, args: Readonly<Record<string, unknown>>, signal?: AbortSignal) => Promise<ToolAnswer>;
}

export async function modelWith(url: string, credential = CREDENTIAL): Promise<Model> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [LAUNCHER, 'mcp'],
    env: { PATH: process.env['PATH'] ?? '', SKEP_BROKER_URL: url, SKEP_CREDENTIAL: credential },
    stderr: 'inherit',
  });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return {
    client,
    async call(name, args, signal) {
      const result = await client.callTool({ name, arguments: { ...args } }, signal === undefined ? {} : { signal });
      const blocks = result.content.map((block) => (block.type === 'text' ? block.text : block.type));
      return { text: blocks.join('\n'), isError: result.isError === true };
    },
  };
}
