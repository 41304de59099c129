/**
 * `request_retry`: the identical bytes of a request whose outcome is not known, sent again. The broker executes them at
 * most once, so that a model may ask as often as it likes. NIP-BA "Execution and retries".
 */
import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { BrokerClient } from '../broker/client/index.ts';
import { isOpen, toldEnding, toldResult } from './ending.ts';
import { inline } from './page-text.ts';
import type { Pending } from './pending.ts';
import { annotationsOf } from './tool.ts';

export function retryTool(server: McpServer, client: BrokerClient, pending: Pending): void {
  const config = {
    title: 'Ask again what came of a request',
    description:
      'Ask what came of an earlier tool call whose outcome was not known. It never does anything twice. Use the ' +
      'requestId that the tool named.',
    inputSchema: z.strictObject({ requestId: z.string().describe('As the tool named it.').meta({ maxLength: 128 }) }),
    annotations: annotationsOf('replaces'),
  };
  server.registerTool('request_retry', config, async ({ requestId }, { mcpReq }) => {
    const found = pending.find(requestId);
    if (found === undefined) {
      const words = `No open request ${inline(requestId)} is known here. Read the channel to see what was done.`;
      return { ...toldResult([words]), isError: true };
    }
    const result = await client.send(found.request, { signal: mcpReq.signal });
    if (!isOpen(result, false)) pending.forget(requestId);
    return result.status === 'succeeded' ? toldResult(found.told(result)) : toldEnding(result, false);
  });
}
