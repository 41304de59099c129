/**
 * An ACP agent whose lines no serialiser would write: odd spaces, escapes and numbers, and one that is no message. It
 * keeps each line it writes in the file of its first argument, and gives away its credential to whoever prompts it.
 */
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [, , record] = process.argv;

function write(line) {
  appendFileSync(record, `${line}\n`);
  process.stdout.write(`${line}\n`);
}

const update = (text) => `{ "method":"session/update","jsonrpc" : "2.0", "params":{"sessionId":"odd","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":${text}}}}}`;

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (method === 'initialize') write(`{"jsonrpc":"2.0","id":${id},"result":{"protocolVersion":1,"agentCapabilities":{}, "big":12345678901234567890}}`);
  if (method === 'session/new') write(`{"jsonrpc":"2.0","id":${id},"result":{"sessionId":"odd","modes":{"currentModeId":"m",  "availableModes":[]},"models":null}}`);
  if (method === 'session/prompt') {
    write('Loading\u2026 50%');
    write(update('"\\u0061\\/ \u{1F41D} \u2028"'));
    write(update(JSON.stringify(`my credential is ${process.env.SKEP_CREDENTIAL}`)));
    write(`{"id":${id},"jsonrpc":"2.0",  "result":{"stopReason":"end_turn","_meta":{"n":1.0}}}`);
  }
}
