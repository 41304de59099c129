/**
 * `session/new`, what opens a session again, and the answer to a prompt: how they are written, what is read of them. Agents differ in nearly every
 * other member, so nothing else is looked at.
 */
import type { NewSessionRequest } from '@agentclientprotocol/sdk';
import { excerpt } from '../model/index.ts';
import { isId, isMembers } from './frames.ts';
import type { SystemPromptForm } from './handshake.ts';
import type { SessionRequest, StdioMcpServer, StopReason } from './ports.ts';

type SystemPromptContent = {
  readonly systemPrompt?: {
    readonly mode: 'append';
    readonly content: readonly { readonly type: 'text'; readonly text: string }[];
  };
};

const STOP_REASONS: ReadonlyMap<string, StopReason> = new Map(
  (['end_turn', 'cancelled', 'max_tokens', 'max_turn_requests', 'refusal'] as const).map((reason) => [reason, reason]),
);

/** Also of `session/load` and `session/resume`, beside the session's id. `mcpServers` is always there, as every agent demands it. */
export function newSessionParams(
  { cwd, systemPrompt: text }: SessionRequest,
  form: SystemPromptForm,
  servers: readonly StdioMcpServer[] = [],
): NewSessionRequest & SystemPromptContent {
  const base = { cwd, mcpServers: servers.map(serverParams) };
  if (text === undefined) return base;
  switch (form) {
    case 'content':
      return { ...base, systemPrompt: { mode: 'append', content: [{ type: 'text', text }] } };
    case 'meta':
      return { ...base, _meta: { systemPrompt: { append: text } } };
    // Its text follows by a method of its own.
    case 'goose':
      return base;
    case 'none':
      throw new TypeError('session/new: a system prompt for an agent that takes none');
  }
}

function serverParams({ name, command, args, env }: StdioMcpServer): NewSessionRequest['mcpServers'][number] {
  return { name, command, args: [...args], env: Object.entries(env).map(([name, value]) => ({ name, value })) };
}

/** The session id, or undefined when the answer holds none. */
export function readSessionId(result: unknown): string | undefined {
  const { sessionId } = isMembers(result) ? result : {};
  return isId(sessionId) && sessionId !== '' ? sessionId : undefined;
}

/**
 * The stop reason in any case of letters. One that ACP does not know, or none, is still the end of the turn: what was
 * said in it was said, and asking again would say it twice. `odd` tells then what was found, fit for a log.
 */
export function readStopReason(result: unknown): { readonly stopReason: StopReason; readonly odd?: string } {
  if (!isMembers(result)) return { stopReason: 'end_turn', odd: `the result ${excerpt(JSON.stringify(result))}` };
  const { stopReason } = result;
  const known = typeof stopReason === 'string' ? STOP_REASONS.get(stopReason.toLowerCase()) : undefined;
  if (known !== undefined) return { stopReason: known };
  return { stopReason: 'end_turn', odd: stopReason === undefined ? 'nothing' : excerpt(JSON.stringify(stopReason)) };
}
