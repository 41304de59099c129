/**
 * `session/new` and the answer to a prompt: how they are written, what is read of them. Agents differ in nearly every
 * other member, so nothing else is looked at.
 */
import type { NewSessionRequest } from '@agentclientprotocol/sdk';
import { isMembers } from './frames.ts';
import type { SystemPromptForm } from './handshake.ts';
import type { SessionRequest, StopReason } from './ports.ts';

type SystemPromptContent = {
  readonly systemPrompt?: {
    readonly mode: 'append';
    readonly content: readonly { readonly type: 'text'; readonly text: string }[];
  };
};

const STOP_REASONS: ReadonlyMap<string, StopReason> = new Map(
  (['end_turn', 'cancelled', 'max_tokens', 'max_turn_requests', 'refusal'] as const).map((reason) => [reason, reason]),
);

/** `mcpServers` is always there, as every agent demands it. */
export function newSessionParams(
  { cwd, systemPrompt: text }: SessionRequest,
  form: SystemPromptForm,
): NewSessionRequest & SystemPromptContent {
  const base = { cwd, mcpServers: [] };
  if (text === undefined) return base;
  switch (form) {
    case 'content':
      return { ...base, systemPrompt: { mode: 'append', content: [{ type: 'text', text }] } };
    case 'meta':
      return { ...base, _meta: { systemPrompt: { append: text } } };
    case 'none':
      throw new TypeError('session/new: a system prompt for an agent that takes none');
  }
}

/** The session id, or undefined when the answer holds none. */
export function readSessionId(result: unknown): string | undefined {
  const { sessionId } = isMembers(result) ? result : {};
  return typeof sessionId === 'string' && sessionId !== '' ? sessionId : undefined;
}

/** The stop reason in any case of letters, or undefined when it is none that ACP knows. */
export function readStopReason(result: unknown): StopReason | undefined {
  const { stopReason } = isMembers(result) ? result : {};
  return typeof stopReason === 'string' ? STOP_REASONS.get(stopReason.toLowerCase()) : undefined;
}
