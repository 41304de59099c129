/**
 * The MCP server that a session of an agent is given: this very package's `skep mcp`, run by the Node that runs us, with
 * the session's endpoint and credential in its environment and nothing of it in its arguments.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { StdioMcpServer } from './acp/index.ts';

/** `own` is what skep sets for the agent process itself, the mark of its children included. */
export function buzzServer(nodePath: string, own: Readonly<Record<string, string>>): StdioMcpServer {
  // A package may name itself, from its sources and from its build alike.
  const root = dirname(createRequire(import.meta.url).resolve('skep/package.json'));
  return { name: 'buzz', command: nodePath, args: [join(root, 'bin', 'skep.js'), 'mcp'], env: own };
}
