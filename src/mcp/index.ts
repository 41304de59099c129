/**
 * The actions of NIP-BA as tools of an MCP server over stdio, for agents with no code of ours inside.
 * in: src/model, src/nostr, a client of the broker. out: `serveMcp`. Holds no key; the client holds the credential.
 */
export { serveMcp } from './serve.ts';
export type { McpOptions, McpServing } from './serve.ts';
