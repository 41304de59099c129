/**
 * One `session/update` as what this room needs of it. Read member by member, leniently: an update of an unknown kind,
 * or one whose needed member has another type, is skipped alone, and nothing is printed (the SDK would print it).
 */
import { isId, isMembers } from './frames.ts';
import type { ConfigOption } from './ports.ts';
import { readConfigOptions } from './session-settings.ts';

export type Update =
  | { readonly type: 'message'; readonly text: string }
  | { readonly type: 'thought' }
  /** `status` as the agent said it, where it did. */
  | { readonly type: 'tool'; readonly toolCallId: string; readonly status?: string }
  /** The agent's settings are others now: all of its options, or the mode. */
  | { readonly type: 'options'; readonly configOptions: readonly ConfigOption[] }
  | { readonly type: 'mode'; readonly modeId: string }
  | { readonly type: 'other' };

/** Kinds we know and take nothing from. */
const OTHER: ReadonlySet<unknown> = new Set([
  'user_message_chunk',
  'plan',
  'available_commands_update',
  'session_info_update',
  'usage_update',
]);

/** `params.update` of a notification, or undefined when it is to be skipped. */
export function readUpdate(update: unknown): Update | undefined {
  if (!isMembers(update)) return undefined;
  const { sessionUpdate, content, toolCallId, status } = update;
  switch (sessionUpdate) {
    case 'agent_message_chunk': {
      if (!isMembers(content) || typeof content['type'] !== 'string') return undefined;
      if (content['type'] !== 'text') return { type: 'other' };
      const { text } = content;
      return typeof text === 'string' ? { type: 'message', text } : undefined;
    }
    case 'agent_thought_chunk':
      return isMembers(content) ? { type: 'thought' } : undefined;
    // Some agents announce a call twice, some only with its update: the id says which call it is.
    case 'tool_call':
    case 'tool_call_update':
      return isId(toolCallId) ? { type: 'tool', toolCallId, ...(typeof status === 'string' && { status }) } : undefined;
    case 'config_option_update': {
      const configOptions = readConfigOptions(update['configOptions']);
      return configOptions === undefined ? { type: 'other' } : { type: 'options', configOptions };
    }
    case 'current_mode_update': {
      const { currentModeId } = update;
      return typeof currentModeId === 'string' ? { type: 'mode', modeId: currentModeId } : { type: 'other' };
    }
    default:
      return OTHER.has(sessionUpdate) ? { type: 'other' } : undefined;
  }
}
