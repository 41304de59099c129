/**
 * The MCP server: one connection over stdin and stdout, on which nothing but JSON-RPC is ever written. It connects to
 * the broker at the first tool call, so that it starts while the broker is away.
 */
import type { Readable, Writable } from 'node:stream';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import type { BrokerClient } from '../broker/client/index.ts';
import { AGENT_TOOLS } from './agents.ts';
import { MEMORY_TOOLS } from './memory.ts';
import { MESSAGE_TOOLS } from './messages.ts';
import { openPending } from './pending.ts';
import { retryTool } from './retry.ts';
import { SIGNAL_TOOLS } from './signals.ts';

export interface McpOptions {
  readonly client: BrokerClient;
  readonly version: string;
  readonly input: Readable;
  readonly output: Writable;
  /** A line about the connection itself; never a message or a tool's arguments. */
  readonly tell: (line: string) => void;
}

export interface McpServing {
  /** Settles when the connection is over: the other side has closed an end of it, or has sent a line without an end. */
  readonly closed: Promise<void>;
}

/** What a model is told of the server as a whole. */
const INSTRUCTIONS = `Tools of a chat with people and other agents. You act under your own identity; no key is needed.
Ids (channelId, event ids, pubkeys) stand in the turn you were given and in what channel_read returns; never make one up.
To answer a message use message_reply with its id. A tool that says its outcome is not known must not be called again for
the same thing: use request_retry with the requestId it names.`;

export function serveMcp({ client, version, input, output, tell }: McpOptions): McpServing {
  const pending = openPending();
  const transport = new StdioServerTransport(input, output);
  const handle = serveStdio(
    () => {
      const server = new McpServer({ name: 'skep', title: 'Buzz', version }, { instructions: INSTRUCTIONS });
      for (const tool of [...MESSAGE_TOOLS, ...MEMORY_TOOLS, ...SIGNAL_TOOLS, ...AGENT_TOOLS]) {
        tool.register(server, { client, pending });
      }
      retryTool(server, client, pending);
      return server;
    },
    {
      transport,
      onerror: ({ name }) => { tell(`mcp: a line that is no MCP message (${name})`); },
    },
  );
  // Not the end of `input` alone: the transport gives up by itself, too, and then reads no more, so that no end is seen.
  const { onclose } = transport;
  const closed = new Promise<void>((resolve) => {
    transport.onclose = () => {
      onclose?.();
      if (!input.readableEnded && !input.destroyed) tell('mcp: ends: nobody reads what it writes, or a line was too long');
      resolve();
    };
  });
  return { closed: closed.then(() => handle.close()) };
}
