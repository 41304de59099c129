/**
 * A load on an HTTP server, from a process of its own: `node http-load.js <port> <connections> <requests> <file>`. Each
 * connection is kept and asks again as soon as it has its answer; the file holds the bytes of one request. Prints the
 * milliseconds it took, and the length of an answer, which is the same for all.
 */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';

const [port = '', connections = '', requests = '', file = ''] = process.argv.slice(2);
const bytes = readFileSync(file);
let left = Number(requests);
let answerLength = 0;

const start = performance.now();
await Promise.all(Array.from({ length: Number(connections) }, one));
process.stdout.write(`${JSON.stringify({ ms: performance.now() - start, answerLength })}\n`);

function one(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1');
    let received = 0;
    let expected = answerLength;
    const ask = (): void => {
      if (left === 0) {
        socket.end();
        return;
      }
      left -= 1;
      socket.write(bytes);
    };
    socket.setNoDelay(true);
    socket.on('connect', ask);
    socket.on('error', reject);
    socket.on('close', resolve);
    socket.on('data', (chunk) => {
      if (expected === 0) expected = lengthOf(chunk);
      answerLength = expected;
      received += chunk.length;
      if (received < expected) return;
      received -= expected;
      ask();
    });
  });
}

/** Of the whole answer, head and body. A first chunk without its head is no server of ours. */
function lengthOf(chunk: Buffer): number {
  const text = chunk.toString('latin1');
  const [, length] = /\r\ncontent-length: (\d+)\r\n/i.exec(text) ?? [];
  if (!text.startsWith('HTTP/1.1 200') || length === undefined) throw new TypeError(`unexpected answer: ${text}`);
  return text.indexOf('\r\n\r\n') + 4 + Number(length);
}
