/**
 * Whether what an agent sends shows that its turn goes on: the idle timeout runs from the last of these, and not from any
 * word. A heartbeat of the program, the acknowledgement of a steer, news of its commands, title or settings come from an
 * agent that is stuck as well. Pure. What nobody knows counts, where it names the turn's session.
 */
import { CLIENT_METHODS } from '@agentclientprotocol/sdk';
import { isMembers } from './frames.ts';

/** Kinds of `session/update` that tell of the session and nothing of the turn. */
const OF_THE_SESSION: ReadonlySet<unknown> = new Set([
  'available_commands_update', 'config_option_update', 'current_mode_update', 'session_info_update', 'user_message_chunk',
]);

/** Of a request or notification of the agent that names a session. */
export function isProgress(method: string, params: unknown): boolean {
  if (method !== CLIENT_METHODS.session_update || !isMembers(params)) return true;
  const { update } = params;
  return !isMembers(update) || !OF_THE_SESSION.has(update['sessionUpdate']);
}
