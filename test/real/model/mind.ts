/**
 * What the played model does with a mention, by its first word. It reads what any model reads, the envelope in the
 * prompt, and answers with what it was offered: a tool of the MCP server `buzz`, the agent's own shell, or its words.
 *
 *   answer <text>  calls message_reply, and says a word when that has been done
 *   run <command>  has the agent's own shell run it, and says what came of it
 *   hold <text>    says a beginning and ends when it is let; a turn that was interrupted is answered with <text>
 *   fail <status>  the provider answers with that status of HTTP
 *   anything else  is said back
 */
import { readEnvelope } from '../../../adapters/scripted/envelope.ts';
import type { ModelCall, ModelReply, ModelRequest } from './ports.ts';

export const BEGINNING = 'the beginning of it';
/** Said after a tool has given its result. */
export const DONE = 'the tool gave: ';

const ENVELOPE = /<(buzz-turn|buzz-turn-update)(?: [^>\n]*)?>\n[\s\S]*?<\/\1>/g;

/** `shell` is how this agent runs a command. */
export function mindOf(shell: (command: string) => ModelCall): (request: ModelRequest) => ModelReply {
  return (request) => {
    if (request.toolResult !== undefined) return { says: `${DONE}${request.toolResult}`.slice(0, 500) };
    // What was cancelled before may stand in front of it.
    const envelope = readEnvelope([...request.blocks.join('\n').matchAll(ENVELOPE)].map(([whole]) => whole));
    const event = envelope?.events.at(-1);
    if (envelope === undefined || event === undefined) return { says: 'I was given no turn.' };
    const [, verb = '', rest = ''] = /^(\w+) ([\s\S]*)$/.exec(event.content) ?? [];
    const answer = reply(request, { channelId: envelope.channelId, replyToEventId: envelope.replyTo, content: rest });
    switch (verb) {
      case 'answer': return answer;
      case 'run': return { calls: shell(rest) };
      case 'fail': return { fails: Number(rest) };
      case 'hold': return envelope.mergeDisposition === '' ? { begins: BEGINNING } : answer;
      default: return { says: event.content };
    }
  };
}

function reply({ tools, body }: ModelRequest, input: ModelCall['input']): ModelReply {
  const tool = tools.find(({ name }) => name.endsWith('message_reply'));
  if (tool !== undefined) return { calls: { tool, input } };
  const search = tools.find(({ name }) => name === 'tool_search');
  // Once: what it did not find is not there.
  if (search !== undefined && !body.includes('tool_search_output')) return { calls: { tool: search, input: { query: 'message_reply: reply to a message', limit: 4 } } };
  return { says: `no message_reply among ${tools.map(({ name }) => name).join(', ')}` };
}
