/** Google's Gemini API, as far as an agent program needs it. */
import { isMembers, membersIn, text, textsOf } from './ports.ts';
import type { Dialect, Streamed } from './ports.ts';

const USAGE = { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120, cachedContentTokenCount: 10 };

export const gemini: Dialect = {
  path: /:streamGenerateContent$/,
  read(body, path) {
    const parts = membersIn(membersIn(body['contents']).at(-1)?.['parts']);
    const response = parts.map((part) => part['functionResponse']).find(isMembers);
    return {
      model: /models\/([^:]+):/.exec(path)?.[1] ?? '',
      tools: membersIn(body['tools']).flatMap((one) => membersIn(one['functionDeclarations'])).map(({ name }) => ({ name: text(name) })),
      blocks: response === undefined ? textsOf(parts) : [],
      ...(response && { toolResult: JSON.stringify(response['response']) }),
      body: JSON.stringify(body),
    };
  },
  write(stream, reply, count) {
    stream.event('', chunk(partOf(reply, count), 'calls' in reply));
  },
  finish(stream, reply) {
    if (!('calls' in reply)) stream.event('', chunk({ text: '' }, true));
    stream.end();
  },
};

function partOf(reply: Streamed, count: number): object {
  if ('calls' in reply) return { functionCall: { id: `call_${count}`, name: reply.calls.tool.name, args: reply.calls.input } };
  return { text: 'says' in reply ? reply.says : reply.begins };
}

export function chunk(part: object, isLast: boolean): object {
  return {
    candidates: [{ index: 0, content: { role: 'model', parts: [part] }, ...(isLast && { finishReason: 'STOP' }) }],
    usageMetadata: USAGE, modelVersion: 'played',
  };
}
