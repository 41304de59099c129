/**
 * The least agent that speaks ACP, on nothing but Node: to each prompt it says as many numbered words as it was started
 * with, in one burst, and ends its turn.
 */
import { createInterface } from 'node:readline';

interface Asked {
  readonly id?: number | string;
  readonly method?: string;
}

const words = Number(process.argv[2] ?? 1);

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line) as Asked;
  switch (method) {
    case 'initialize':
      return answer(id, { protocolVersion: 1, agentCapabilities: {}, agentInfo: { name: 'burst', version: '1' } });
    case 'session/new':
      return answer(id, { sessionId: 's-1' });
    case 'session/prompt':
      process.stdout.write(Array.from({ length: words }, (_, index) => word(`${index} `)).join(''));
      return answer(id, { stopReason: 'end_turn' });
    default:
      if (id !== undefined) answer(id, null);
  }
});

function word(text: string): string {
  const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } };
  return `${JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's-1', update } })}\n`;
}

function answer(id: Asked['id'], result: unknown): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
}
