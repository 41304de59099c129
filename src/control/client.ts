/** Asks a running supervisor how it is doing. */
import { connect } from 'node:net';
import { Failure } from '../model/index.ts';
import { parseReport } from './report.ts';
import type { StatusReport } from './report.ts';

/** A report is some hundred bytes an agent; what is longer than this is not one. */
const MAX_ANSWER_CHARACTERS = 16_777_216;

/** Throws `Failure('not_running')` when nobody answers on the socket within `timeoutMs`, or not in our words. */
export function askStatus(path: string, timeoutMs: number): Promise<StatusReport> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(path);
    const timer = setTimeout(() => {
      end(`does not answer within ${timeoutMs} ms; the supervisor is stuck or stopped`);
    }, timeoutMs);
    socket.setEncoding('utf8');
    socket.on('connect', () => socket.write('{"v":1,"ask":"status"}\n'));
    socket.on('error', (error) => {
      end(reasonOf(error), error);
    });
    socket.on('close', () => {
      end('the supervisor closed the connection without an answer');
    });
    socket.on('data', (chunk: string) => {
      answer += chunk;
      const length = answer.indexOf('\n');
      if (length < 0 && answer.length <= MAX_ANSWER_CHARACTERS) return;
      const report = parseReport(answer.slice(0, length));
      if (report === undefined) end('answers in words that this skep does not know; use the version that runs');
      else end(report);
    });

    function end(result: StatusReport | string, cause?: unknown): void {
      clearTimeout(timer);
      socket.destroy();
      if (typeof result === 'string') reject(new Failure('not_running', `${path}: ${result}`, { cause }));
      else resolve(result);
    }
  });
}

function reasonOf(error: Error): string {
  const code = 'code' in error ? error.code : undefined;
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
    case 'ECONNREFUSED':
      return 'no supervisor is running here; start one with skep up';
    case 'EACCES':
    case 'EPERM':
      return 'this user may not ask the supervisor';
    default:
      return `the supervisor cannot be asked (${String(code)})`;
  }
}
