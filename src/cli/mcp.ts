/**
 * `skep mcp`: the broker's actions as tools of an MCP server, over stdin and stdout, for the agent program that started
 * it. Ends when its stdin ends. Endpoint and credential come from the environment alone.
 */
import type { Command } from 'commander';
import { clientFromEnvironment } from './access.ts';
import { tell } from './print.ts';
import { VERSION } from './version.ts';

export function mcpVerb(program: Command): void {
  program
    .command('mcp')
    .description('offer the broker to a model, as an MCP server over stdio')
    .addHelpText('after', `
SKEP_BROKER_URL and SKEP_CREDENTIAL say where the broker is and who asks. stdout carries JSON-RPC alone.`)
    .action(async () => {
      const client = clientFromEnvironment(process.env);
      try {
        // Loaded by need: no other verb speaks MCP.
        const { serveMcp } = await import('../mcp/index.ts');
        await serveMcp({ client, version: VERSION, input: process.stdin, output: process.stdout, tell }).closed;
      } finally {
        client.close();
      }
    });
}
