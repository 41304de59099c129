/** Anthropic's Messages API, as far as an agent program needs it. */
import { membersIn, text, textsOf } from './ports.ts';
import type { Dialect, Stream, Streamed } from './ports.ts';

/** What Claude Code puts beside the user's own words. */
const REMINDER = /^\s*<system-reminder>/;

export const anthropic: Dialect = {
  path: /\/v1\/messages$/,
  read(body) {
    // Claude Code appends messages of the role `system`.
    const newest = membersIn(body['messages']).findLast(({ role }) => role !== 'system');
    const blocks = typeof newest?.['content'] === 'string' ? [{ type: 'text', text: newest['content'] }] : membersIn(newest?.['content']);
    const at = blocks.findLastIndex(({ type }) => type === 'tool_result');
    // A prompt that follows an interrupted call shares its message.
    const after = textsOf(blocks.slice(at + 1)).filter((one) => !REMINDER.test(one));
    const result = after.length === 0 ? blocks[at] : undefined;
    return {
      model: text(body['model']),
      tools: membersIn(body['tools']).map(({ name }) => ({ name: text(name) })),
      blocks: after,
      ...(result && { toolResult: textsOf(result['content']).join('\n') }),
      body: JSON.stringify(body),
    };
  },
  write(stream, reply, count) {
    const say = sayOn(stream);
    say('message_start', {
      message: {
        id: `msg_${count}`, type: 'message', role: 'assistant', model: 'played', content: [], stop_reason: null, stop_sequence: null,
        usage: { input_tokens: 100, cache_creation_input_tokens: 0, cache_read_input_tokens: 10, output_tokens: 1 },
      },
    });
    writeBlock(say, reply, count);
  },
  finish(stream, reply) {
    const say = sayOn(stream);
    say('content_block_stop', { index: 0 });
    say('message_delta', { delta: { stop_reason: 'calls' in reply ? 'tool_use' : 'end_turn', stop_sequence: null }, usage: { output_tokens: 20 } });
    say('message_stop', {});
    stream.end();
  },
};

type Say = (type: string, more: object) => void;

function sayOn(stream: Stream): Say {
  return (type, more) => { stream.event(type, { type, ...more }); };
}

function writeBlock(say: Say, reply: Streamed, count: number): void {
  const isCall = 'calls' in reply;
  say('content_block_start', {
    index: 0,
    content_block: isCall ? { type: 'tool_use', id: `toolu_${count}`, name: reply.calls.tool.name, input: {} } : { type: 'text', text: '' },
  });
  say('content_block_delta', {
    index: 0,
    delta: isCall ? { type: 'input_json_delta', partial_json: JSON.stringify(reply.calls.input) } : { type: 'text_delta', text: 'says' in reply ? reply.says : reply.begins },
  });
}

/** How a reply looks to who asked for it whole. */
export function wholeMessage(said: string): object {
  return {
    id: 'msg_whole', type: 'message', role: 'assistant', model: 'played', content: [{ type: 'text', text: said }],
    stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 100, output_tokens: 20 },
  };
}

