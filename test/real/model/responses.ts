/** OpenAI's Responses API, as far as an agent program needs it. */
import { membersIn, text, textsOf } from './ports.ts';
import type { Dialect, Members, Stream, Streamed, ModelTool } from './ports.ts';

/** Codex keeps the tools of MCP servers back until the model looks for them; what it found stands in the input. */
const SEARCH = 'tool_search';

export const responses: Dialect = {
  path: /\/responses$/,
  read(body) {
    const items = typeof body['input'] === 'string' ? [{ role: 'user', content: body['input'] }] : membersIn(body['input']);
    const found = items.filter(({ type }) => type === `${SEARCH}_output`);
    const newest = items.findLast(({ type, role }) => type !== 'reasoning' && !text(type).startsWith(SEARCH) && role !== 'system' && role !== 'developer');
    const isResult = text(newest?.['type']).endsWith('_output');
    return {
      model: text(body['model']),
      tools: [body, ...found].flatMap((one) => membersIn(one['tools'])).flatMap(toolsOf),
      blocks: isResult ? [] : textsOf(newest?.['content']),
      ...(isResult && { toolResult: textsOf(newest?.['output']).join('\n') }),
      body: JSON.stringify(body),
    };
  },
  write(stream, reply, count) {
    const say = sayOn(stream);
    say('response.created', { response: { ...responseOf(count), status: 'in_progress', output: [] } });
    const item = itemOf(reply, count);
    say('response.output_item.added', { output_index: 0, item: { ...item, ...('calls' in reply ? { arguments: item['type'] === 'function_call' ? '' : {} } : { content: [] }), status: 'in_progress' } });
    if (!('calls' in reply)) {
      say('response.output_text.delta', { item_id: item['id'], output_index: 0, content_index: 0, delta: 'says' in reply ? reply.says : reply.begins });
    }
  },
  finish(stream, reply, count) {
    const say = sayOn(stream);
    const item = itemOf(reply, count);
    say('response.output_item.done', { output_index: 0, item });
    say('response.completed', {
      response: {
        ...responseOf(count), status: 'completed', output: [item],
        usage: {
          input_tokens: 100, input_tokens_details: { cached_tokens: 10 }, output_tokens: 20, output_tokens_details: { reasoning_tokens: 5 }, total_tokens: 120,
        },
      },
    });
    stream.end();
  },
};

function sayOn(stream: Stream): (type: string, more: object) => void {
  return (type, more) => { stream.event(type, { type, ...more }); };
}

function responseOf(count: number): Members {
  return { id: `resp_${count}`, object: 'response' };
}

/** The tools of an MCP server may stand in a namespace of their own. */
function toolsOf(tool: Members): readonly ModelTool[] {
  if (tool['type'] !== 'namespace') return [{ name: text(tool['name'] ?? tool['type']) }];
  return membersIn(tool['tools']).map(({ name }) => ({ name: text(name), namespace: text(tool['name']) }));
}

function itemOf(reply: Streamed, count: number): Members {
  if (!('calls' in reply)) {
    const said = 'says' in reply ? reply.says : reply.begins;
    return { type: 'message', id: `msg_${count}`, role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: said, annotations: [] }] };
  }
  const { tool: { name, namespace }, input } = reply.calls;
  if (name === SEARCH) return { type: `${SEARCH}_call`, id: `ts_${count}`, call_id: `call_${count}`, execution: 'client', status: 'completed', arguments: input };
  return {
    type: 'function_call', id: `fc_${count}`, call_id: `call_${count}`, name, ...(namespace !== undefined && { namespace }),
    arguments: JSON.stringify(input), status: 'completed',
  };
}
