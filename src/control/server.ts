/**
 * The control socket: a UNIX socket in the data directory that only its owner may open. One JSON request a line, one
 * JSON answer a line, in that order: how the supervisor is doing, session credentials, and that an agent is started again. A socket file that a killed
 * supervisor left is replaced, one that somebody answers on is not touched.
 */
import { lstatSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import type { CredentialDesk } from '../broker/ports.ts';
import { Failure } from '../model/index.ts';
import type { Log } from '../model/index.ts';
import type { StatusReport } from './report.ts';
import { answerRestart, asRestartRequest } from './restart.ts';
import type { Restart } from './restart.ts';
import { answerSessions, asSessionRequest } from './sessions.ts';

/** A request is a few words; a longer line is not one. The connection ends. */
const MAX_REQUEST_BYTES = 4_096;
/** Nobody needs more at once than a few terminals. Further ones are closed at once. */
const MAX_CONNECTIONS = 16;
/** A connection that says nothing for this long ends. */
const IDLE_MS = 10_000;

export interface ControlOptions {
  readonly path: string;
  readonly snapshot: () => StatusReport;
  /** Undefined as long as no broker is open. */
  readonly desk: () => CredentialDesk | undefined;
  /** Undefined as long as no agents are open. */
  readonly restart: () => Restart | undefined;
  readonly log: Log;
}

export interface Control {
  /** Ends open connections and removes the socket file. Closing twice is closing once. */
  close(): Promise<void>;
}

/** Throws `Failure('in_use')` when somebody answers on the path, `Failure('listen')` when it cannot be listened on. */
export async function openControl(options: ControlOptions): Promise<Control> {
  const { path, log } = options;
  const connections = new Set<Socket>();
  const server = createServer((socket) => {
    connections.add(socket);
    socket.on('close', () => connections.delete(socket));
    serve(socket, options);
  });
  server.maxConnections = MAX_CONNECTIONS;
  await listen(server, path);
  server.on('error', (error) => {
    log.warn('control socket failed', { path, error });
  });
  let closing: Promise<void> | undefined;
  return {
    close: () => {
      closing ??= new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        for (const socket of connections) socket.destroy();
      });
      return closing;
    },
  };
}

async function listen(server: Server, path: string): Promise<void> {
  try {
    await listenOnce(server, path);
  } catch (error) {
    if (codeOf(error) !== 'EADDRINUSE') throw listenFailure(path, error);
    await removeStale(path);
    await listenOnce(server, path).catch((again: unknown) => {
      throw listenFailure(path, again);
    });
  }
}

function listenOnce(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // The file is made within this call: it is never open to others, not even for a moment.
    const mask = process.umask(0o177);
    try {
      server.listen(path, () => {
        server.off('error', reject);
        resolve();
      });
    } finally {
      process.umask(mask);
    }
  });
}

/** Removes a socket file that nobody listens on. Only a refused connection proves that; everything else leaves it. */
async function removeStale(path: string): Promise<void> {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (!stats.isSocket()) throw new Failure('listen', `${path}: is in the way and not a socket; move it away`);
  const answer = await new Promise<string>((resolve) => {
    const probe = connect(path);
    probe.on('connect', () => { probe.destroy(); resolve('live'); });
    probe.on('error', (error) => { resolve(codeOf(error)); });
  });
  if (answer === 'ECONNREFUSED') rmSync(path, { force: true });
  else if (answer !== 'ENOENT') throw new Failure('in_use', `${path}: another supervisor answers on this socket`);
}

function serve(socket: Socket, options: ControlOptions): void {
  let pending = '';
  let answered = Promise.resolve();
  socket.setEncoding('utf8');
  socket.setTimeout(IDLE_MS, () => socket.destroy());
  // A client that goes away in mid-answer is its own affair.
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: string) => {
    const lines = (pending + chunk).split('\n');
    pending = lines.pop() ?? '';
    if (pending.length > MAX_REQUEST_BYTES || lines.some((line) => line.length > MAX_REQUEST_BYTES)) {
      socket.destroy();
      return;
    }
    for (const line of lines) {
      answered = answered.then(async () => {
        if (socket.destroyed) return;
        // Whoever waits for an answer may be silent.
        socket.setTimeout(0);
        socket.write(`${JSON.stringify(await answerTo(line, options))}\n`);
        socket.setTimeout(IDLE_MS);
      });
    }
  });
}

/** Never rejects. */
async function answerTo(line: string, { snapshot, desk, restart, log }: ControlOptions): Promise<object> {
  const asked = parseJson(line);
  const aboutSessions = asSessionRequest(asked);
  if (aboutSessions !== undefined) return await answerSessions(aboutSessions, desk(), log);
  const aboutRestart = asRestartRequest(asked);
  if (aboutRestart !== undefined) return await answerRestart(aboutRestart, restart(), log);
  if (!isForStatus(asked)) return { v: 1, error: 'unknown_request' };
  try {
    return snapshot();
  } catch (error) {
    log.error('status cannot be told', { error });
    return { v: 1, error: 'internal' };
  }
}

function isForStatus(asked: unknown): boolean {
  return typeof asked === 'object' && asked !== null && 'v' in asked && asked.v === 1 && 'ask' in asked && asked.ask === 'status';
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function listenFailure(path: string, error: unknown): Failure {
  if (error instanceof Failure) return error;
  return new Failure('listen', `${path}: cannot be listened on (${codeOf(error)})`, { cause: error });
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown error';
}
