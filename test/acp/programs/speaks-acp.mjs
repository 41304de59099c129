/**
 * The least agent there can be: answers initialize and session/new, and plays `onPrompt` on a prompt. The programs
 * beside this one change one thing each, and are named by it.
 */
let input = '';

export const write = (text) => process.stdout.write(text);
export const frame = (message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;

const answers = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: {} }),
  'session/new': () => ({ sessionId: 's1' }),
  'session/prompt': () => ({ stopReason: 'end_turn' }),
};

export function serve({
  answer = (id, result) => write(frame({ id, result })),
  onPrompt = (id) => answer(id, { stopReason: 'end_turn' }),
} = {}) {
  process.stdin.on('data', (chunk) => {
    input += chunk;
    for (let end = input.indexOf('\n'); end >= 0; end = input.indexOf('\n')) {
      const { id, method, params } = JSON.parse(input.slice(0, end));
      input = input.slice(end + 1);
      if (method === 'session/prompt') onPrompt(id, params);
      else if (method in answers) answer(id, answers[method]());
    }
  });
  process.stdin.on('end', () => process.exit(0));
}
