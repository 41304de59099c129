/** Answers everything, and dies when it is asked for one method: of an exit code, or of a signal. */
const [method, how] = process.argv.slice(2);
const models = { currentModelId: 'a', availableModels: [{ modelId: 'a' }, { modelId: 'b' }] };
const answers = {
  initialize: { protocolVersion: 1, agentCapabilities: { loadSession: true, sessionCapabilities: { close: {}, resume: {} } } },
  'session/new': { sessionId: 's1', models, modes: { currentModeId: 'loose', availableModes: [{ id: 'loose', name: 'L' }, { id: 'strict', name: 'S' }] } },
  'session/prompt': { stopReason: 'end_turn' },
};

let input = '';
process.stdin.on('data', (chunk) => {
  input += chunk;
  for (let end = input.indexOf('\n'); end >= 0; end = input.indexOf('\n')) {
    const message = JSON.parse(input.slice(0, end));
    input = input.slice(end + 1);
    if (message.method === method) {
      if (/^\d+$/.test(how)) process.exit(Number(how));
      process.kill(process.pid, how);
      return;
    }
    if (message.id !== undefined) process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, result: answers[message.method] ?? {} })}\n`);
  }
});
