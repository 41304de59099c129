/** Asks a running supervisor how it is doing, and for session credentials. */
import { connect } from 'node:net';
import { Failure } from '../model/index.ts';
import { parseReport } from './report.ts';
import type { StatusReport } from './report.ts';
import { parseRestartAnswer } from './restart.ts';
import type { RestartRequest } from './restart.ts';
import { parseSessionAnswer } from './sessions.ts';
import type { SessionAnswer, SessionRequest } from './sessions.ts';

/** A report is some hundred bytes an agent; what is longer than this is not one. */
const MAX_ANSWER_CHARACTERS = 16_777_216;

/** Throws `Failure('not_running')` when nobody answers on the socket within `timeoutMs`, or not in our words. */
export async function askStatus(path: string, timeoutMs: number): Promise<StatusReport> {
  return understood(path, parseReport(await ask(path, { v: 1, ask: 'status' }, timeoutMs)));
}

/** Throws as `askStatus` does, and the `Failure` that the supervisor tells of: `usage`, or what its disk says. */
export async function askSessions(path: string, request: SessionRequest, timeoutMs: number): Promise<SessionAnswer> {
  return understood(path, parseSessionAnswer(await ask(path, request, timeoutMs)));
}

/** Throws as `askStatus` does, `usage` for an agent that is not configured, and what keeps it from being started again. */
export async function askRestart(path: string, agent: string, timeoutMs: number): Promise<void> {
  const request: RestartRequest = { v: 1, ask: 'agent.restart', agent };
  understood(path, parseRestartAnswer(await ask(path, request, timeoutMs)));
}

function understood<T>(path: string, answer: T | undefined): T {
  if (answer !== undefined) return answer;
  throw new Failure('not_running', `${path}: answers in words that this skep does not know; use the version that runs`);
}

/** One request, and the line that answers it. */
function ask(path: string, request: object, timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(path);
    const timer = setTimeout(() => {
      fail(`does not answer within ${timeoutMs} ms; the supervisor is stuck or stopped`);
    }, timeoutMs);
    socket.setEncoding('utf8');
    socket.on('connect', () => socket.write(`${JSON.stringify(request)}\n`));
    socket.on('error', (error) => {
      fail(reasonOf(error), error);
    });
    socket.on('close', () => {
      fail('the supervisor closed the connection without an answer');
    });
    socket.on('data', (chunk: string) => {
      answer += chunk;
      const length = answer.indexOf('\n');
      if (length < 0 && answer.length <= MAX_ANSWER_CHARACTERS) return;
      end();
      resolve(answer.slice(0, length));
    });

    function fail(reason: string, cause?: unknown): void {
      end();
      reject(new Failure('not_running', `${path}: ${reason}`, { cause }));
    }

    function end(): void {
      clearTimeout(timer);
      socket.destroy();
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
