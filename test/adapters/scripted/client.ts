/**
 * A tiny ACP client for the tests: spawns the compiled agent, writes lines, keeps every frame that comes back.
 * It shares no framing with the agent. Every wait is for a frame, an exit or a text; nothing sleeps.
 */
import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { scriptedModule } from '../../../adapters/index.ts';
import { isMembers, parseJson } from '../../../adapters/scripted/json.ts';
import type { Json, Members } from '../../../adapters/scripted/json.ts';
import { temporaryDirectory } from '../../setup/temp.ts';

export type Value = Json;
export type Frame = Members;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Client {
  readonly pid: number;
  readonly directory: string;
  /** Every line of stdout in order, frames or not. */
  readonly lines: readonly string[];
  readonly frames: readonly Frame[];
  readonly stderr: () => string;
  readonly exited: Promise<Exit>;
  /** Nobody holds the agent's stdout any more, its children included. */
  readonly closed: Promise<unknown>;
  readonly write: (bytes: string | Uint8Array) => void;
  readonly endStdin: () => void;
  readonly send: (frame: object) => void;
  /** Sends a request and resolves with its response frame, errors included. */
  readonly call: (method: string, params?: object) => Promise<Frame>;
  readonly notify: (method: string, params: object) => void;
  /** The first frame, past or to come, that satisfies the test. Rejects when the agent ends before. */
  readonly frame: (test: (frame: Frame) => boolean) => Promise<Frame>;
  readonly line: (test: (line: string) => boolean) => Promise<string>;
  readonly stderrText: (text: string) => Promise<void>;
  /** initialize and session/new; resolves with the session's id. */
  readonly open: () => Promise<string>;
  readonly prompt: (sessionId: string, text: string) => Promise<Frame>;
  readonly kill: (signal: NodeJS.Signals) => void;
}

export interface Options {
  readonly script?: object | string;
  readonly extension?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const started: (() => Promise<void>)[] = [];

/** For afterEach: no agent outlives its test. */
export async function stopAll(): Promise<void> {
  await Promise.all(started.splice(0).map((stop) => stop()));
}

export function startAgent({ script, extension = '.json', env = {} }: Options = {}): Client {
  const directory = temporaryDirectory();
  const file = join(directory, `script${extension}`);
  if (script !== undefined) writeFileSync(file, typeof script === 'string' ? script : JSON.stringify(script));
  const child = spawn(process.execPath, [scriptedModule(), ...(script === undefined ? [] : [file])], {
    env: { PATH: process.env['PATH'], SKEP_SCRIPT_GATES: directory, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit').then(() => ({ code: child.exitCode, signal: child.signalCode }));
  const closed = once(child, 'close');
  // A test that writes to an agent which is gone finds out from `exited`.
  child.stdin.on('error', () => undefined);
  started.push(async () => {
    child.kill('SIGKILL');
    await exited;
  });

  const arrivals = new EventEmitter().setMaxListeners(0);
  const lines: string[] = [];
  const frames: Frame[] = [];
  let stderr = '';
  createInterface({ input: child.stdout, crlfDelay: Infinity }).on('line', (line) => {
    lines.push(line);
    const frame = parseJson(line);
    if (isMembers(frame)) frames.push(frame);
    arrivals.emit('news');
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    arrivals.emit('news');
  });
  child.once('close', () => arrivals.emit('end'));

  const until = <T>(look: () => T | undefined, what: string): Promise<T> =>
    new Promise((resolve, reject) => {
      const news = (): void => {
        const found = look();
        if (found === undefined) return;
        arrivals.off('news', news).off('end', end);
        resolve(found);
      };
      const end = (): void => {
        const found = look();
        if (found === undefined) reject(new Error(`the agent ended before ${what}; stderr: ${stderr.slice(-500)}`));
        else resolve(found);
      };
      arrivals.on('news', news).on('end', end);
      news();
    });

  let nextId = 0;
  const send = (frame: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n`);
  const frame = (test: (frame: Frame) => boolean): Promise<Frame> => until(() => frames.find(test), 'the frame came');
  const call = (method: string, params: object = {}): Promise<Frame> => {
    const id = `client-${nextId++}`;
    send({ id, method, params });
    return frame((one) => one['id'] === id && one['method'] === undefined);
  };
  return {
    pid: child.pid ?? 0,
    directory,
    lines,
    frames,
    stderr: () => stderr,
    exited,
    closed,
    write: (bytes) => {
      child.stdin.write(bytes);
    },
    endStdin: () => {
      child.stdin.end();
    },
    send,
    call,
    notify: (method, params) => {
      send({ method, params });
    },
    frame,
    line: (test) => until(() => lines.find(test), 'the line came'),
    stderrText: async (text) => {
      await until(() => stderr.includes(text) || undefined, `stderr said ${text}`);
    },
    open: async () => {
      await call('initialize', { protocolVersion: 1, clientCapabilities: {} });
      return text(await call('session/new', { cwd: directory, mcpServers: [] }), 'result', 'sessionId');
    },
    prompt: (sessionId, words) => call('session/prompt', { sessionId, prompt: [{ type: 'text', text: words }] }),
    kill: (signal) => void child.kill(signal),
  };
}

/** One script of one rule that matches everything, and an open session on it. */
export async function playing(
  steps: readonly object[],
  more: object = {},
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly agent: Client; readonly session: string }> {
  const agent = startAgent({ script: { v: 1, rules: [{ do: steps }], ...more }, env });
  return { agent, session: await agent.open() };
}

/** The value at a path of member names; undefined where there is none. */
export function at(value: Value | undefined, ...path: readonly string[]): Value | undefined {
  return path.reduce<Value | undefined>((inner, name) => (isMembers(inner) ? inner[name] : undefined), value);
}

export function text(value: Value | undefined, ...path: readonly string[]): string {
  const found = at(value, ...path);
  if (typeof found !== 'string') throw new Error(`${path.join('.')}: expected text in ${JSON.stringify(value)}`);
  return found;
}

/** The session/update notifications of one kind. */
export function updates(frames: readonly Frame[], kind: string): readonly Frame[] {
  return frames.flatMap((frame) => {
    const update = at(frame, 'params', 'update');
    return isMembers(update) && update['sessionUpdate'] === kind ? [update] : [];
  });
}

export function said(frames: readonly Frame[], kind = 'agent_message_chunk'): string {
  return updates(frames, kind).map((update) => text(update, 'content', 'text')).join('');
}
