/**
 * One conversation with an agent: bytes in, lines out, and what each line means to us. A transport is two functions
 * (`receive`, `write`), so that tests need no process.
 *
 * Every line is handled to its end in the call that split it, before the next one is looked at: that keeps updates in
 * order and complete when the answer to their prompt is met, and leaves no queue to drain or to bound but the pipe.
 *
 * Ours to answer, before the SDK sees anything: `session/update`, `session/request_permission` (under the very id), and
 * -32601 for every other request. Noise is counted, capped and never answered.
 */
import { AGENT_METHODS, CLIENT_METHODS } from '@agentclientprotocol/sdk';
import type { AnyMessage } from '@agentclientprotocol/sdk';
import { excerpt, unreachable } from '../model/index.ts';
import type { Clock, Log } from '../model/index.ts';
import type { UsageWord } from '../metrics/index.ts';
import { isId, isMembers, MAX_DEPTH, METHOD_NOT_FOUND, readFrame } from './frames.ts';
import type { Frame, RpcId } from './frames.ts';
import type { AcpLimits } from './limits.ts';
import { lineSplitter } from './lines.ts';
import type { LineSplitter } from './lines.ts';
import { echoMemory, noiseMeter } from './noise.ts';
import type { PermissionReply, PermissionRequest } from './permission-ports.ts';
import type { LineAbout, LineTap } from './ports.ts';
import { isProgress } from './progress.ts';
import { sdkClient } from './sdk-client.ts';
import type { SdkClient } from './sdk-client.ts';
import { SET_MODEL } from './session-settings.ts';
import { isSteering } from './steering-methods.ts';
import { readUpdate } from './updates.ts';
import type { Update } from './updates.ts';

/** Methods that only a client sends: from an agent they are an echo. */
const CLIENT_SENDS: ReadonlySet<string> = new Set([...Object.values(AGENT_METHODS), SET_MODEL]);

const ASKS = CLIENT_METHODS.session_request_permission;

/** What the connection tells. Called while a line is handled: synchronous, and quick. */
export interface ConnectionEvents {
  /** A frame came; `sessionId` where it names one, `progresses` where it shows that the turn there goes on. */
  onFrame(sessionId: string | undefined, progresses?: boolean): void;
  /** False when the update belongs to no turn. */
  onUpdate(sessionId: string, update: Update): boolean;
  /** `line` is the request as it stood. It may be answered later; what is never answered waits. */
  onPermission(request: PermissionRequest, line: string, reply: PermissionReply): void;
  /** An update that is neither speech nor a tool call, or a notification that ACP does not know; in a turn or not. */
  onOther(sessionId: string, word: UsageWord): void;
  /** The line that answers the session's prompt was met; the call itself settles a little later. */
  onPromptAnswered(sessionId: string): void;
  /** The line that answers a steer was met. No sign of life of the turn: an agent that is stuck may still say so. */
  onSteerAnswered(sessionId: string): void;
  /** The prompt's bytes have left us. */
  onPromptSent(sessionId: string): void;
  /** The agent does not speak the protocol; said once, and nothing is read any more. */
  onBroken(detail: string): void;
}

interface ConnectionParts {
  /** Hands one line, its LF included, to the agent; `done` is told once whether it has left us. */
  readonly write: (line: string, done?: (written: boolean) => void) => void;
  readonly events: ConnectionEvents;
  readonly limits: Pick<AcpLimits, 'maxLineBytes' | 'maxInvalidPerMinute'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly onLine?: LineTap;
  /** A message chunk that is the program's own remark. */
  readonly isRemark?: (update: unknown) => boolean;
}

export interface Connection {
  readonly calls: Pick<SdkClient, 'initialize' | 'newSession' | 'prompt' | 'cancel' | 'call'>;
  readonly receive: (chunk: Buffer) => void;
  /** stdout ended. */
  readonly receiveEnd: () => void;
  /** Settles every waiting call and reads nothing any more. Twice is once. */
  readonly close: () => void;
}

export function openConnection({ write, events, limits, clock, log, onLine, isRemark }: ConnectionParts): Connection {
  /** Our requests that wait. */
  const waiting = new Map<RpcId, Asked>();
  const echoes = echoMemory();
  const noise = noiseMeter(limits.maxInvalidPerMinute, clock);
  let open = true;

  const send = (text: string, about: LineAbout, done?: (written: boolean) => void): void => {
    write(`${text}\n`, done);
    // It is looked through for secrets, which need not keep the agent waiting.
    onLine?.('write', text, about);
  };
  const sdk = sdkClient((message) => {
    if (!open) return;
    const asked = readAsked(message);
    const prompted = promptedSession(asked);
    if ('method' in message && 'id' in message && message.id !== null) waiting.set(message.id, asked);
    send(JSON.stringify(message), { is: 'message', answers: false, ...asked }, (written) => {
      if (written && prompted !== undefined) events.onPromptSent(prompted);
    });
  });
  const answer = (message: AnyMessage, method: string): void => {
    const text = JSON.stringify(message);
    send(text, { is: 'message', answers: true, method });
    echoes.wrote(text);
  };
  /** Under the very id, whenever it comes; when nothing is written any more, it settles at once. */
  const replyTo = (id: RpcId, asked: Omit<Asked, 'method'>): PermissionReply => (outcome) => new Promise((resolve) => {
    const line = JSON.stringify({ jsonrpc: '2.0', id, result: { outcome } });
    const done = (written: boolean): void => { resolve({ written, line }); };
    if (!open) return done(false);
    send(line, { is: 'permission', answers: true, method: ASKS, ...asked }, done);
    echoes.wrote(line);
  });
  const breakOff = (detail: string): void => {
    open = false;
    events.onBroken(detail);
  };
  const disregard = (why: string, text: string): void => {
    log.debug('a line of the agent is not for us', { why, bytes: text.length, total: noise.total + 1 });
    if (noise.count()) return;
    breakOff(`more than ${limits.maxInvalidPerMinute} lines a minute on stdout that are no ACP frames`);
  };

  const handleRequest = ({ id, method, params }: Extract<Frame, { readonly type: 'request' }>, line: string): void => {
    if (method !== ASKS) {
      const error = { code: METHOD_NOT_FOUND, message: `skep does not offer ${excerpt(method)}` };
      return answer({ jsonrpc: '2.0', id, error }, method);
    }
    const members = isMembers(params) ? params : {};
    const named = readSession(params);
    events.onPermission({ id, sessionId: named.sessionId ?? '', params: members }, line, replyTo(id, named));
  };
  const handleUpdate = (params: unknown, isReplayed: boolean): void => {
    const { update } = isMembers(params) ? params : {};
    const { sessionId } = readSession(params);
    const read: Update | undefined = isRemark?.(update) === true ? { type: 'other' } : readUpdate(update);
    // What the agent says and does is most of what it sends, and none of it tells anything else.
    const isOther = read === undefined || read.type === 'other';
    if (isOther && sessionId !== undefined) events.onOther(sessionId, { type: 'update', update });
    if (sessionId === undefined || read === undefined) {
      return log.debug('an update was skipped: unknown kind or shape');
    }
    // What the session was set to then is not what it is set to now: the answer to the load says that.
    if (isReplayed) return;
    if (!events.onUpdate(sessionId, read)) log.debug('an update outside of a turn was dropped', { sessionId });
  };
  const handleAnswer = (frame: Extract<Frame, { readonly type: 'result' | 'error' }>): void => {
    const asked = waiting.get(frame.id);
    const prompted = promptedSession(asked);
    waiting.delete(frame.id);
    if (asked?.sessionId !== undefined && isSteering(asked.method)) events.onSteerAnswered(asked.sessionId);
    else events.onFrame(prompted);
    if (prompted !== undefined) events.onPromptAnswered(prompted);
    const { id } = frame;
    // Built anew, so that the SDK never meets a form it would print.
    sdk.deliver(
      frame.type === 'result'
        ? { jsonrpc: '2.0', id, result: frame.result }
        : { jsonrpc: '2.0', id, error: { code: frame.code, message: frame.message, ...(frame.data !== undefined && { data: frame.data }) } },
    );
  };
  const handleLine = (text: string): void => {
    if (!open) return;
    if (text.trim() === '') return disregard('blank', text);
    const frame = readFrame(text);
    const about = aboutRead(text, frame);
    onLine?.('read', text, about);
    // Whether somebody waits for it cannot be told by passing over it.
    if (frame.type === 'noise' && frame.why === 'too_deep') return breakOff(`a line of more than ${MAX_DEPTH} levels on stdout`);
    if (about.is === 'noise') return disregard(about.why, text);
    switch (frame.type) {
      case 'noise':
        return;
      case 'result':
      case 'error':
        return handleAnswer(frame);
      case 'request':
      case 'notification':
        events.onFrame(about.sessionId, isProgress(frame.method, frame.params));
        if (frame.type === 'request') return handleRequest(frame, text);
        if (frame.method === CLIENT_METHODS.session_update) return handleUpdate(frame.params, about.is === 'replayed');
        if (about.sessionId !== undefined) events.onOther(about.sessionId, { type: 'notice', method: frame.method, params: frame.params });
        return;
      default:
        return unreachable(frame);
    }
  };
  /** ACP: what was said in a session comes again before the answer to `session/load`. */
  const isLoading = (sessionId: string | undefined): boolean =>
    [...waiting.values()].some((asked) => asked.method === AGENT_METHODS.session_load && asked.sessionId === sessionId);
  const aboutRead = (text: string, frame: Frame): LineAbout => {
    if (echoes.isEcho(text)) return { is: 'noise', why: 'echo of our answer' };
    switch (frame.type) {
      case 'noise':
        return { is: 'noise', why: frame.why };
      case 'result':
      case 'error': {
        const asked = waiting.get(frame.id);
        if (asked === undefined) return { is: 'noise', why: 'answers nothing we asked' };
        // The answer to `session/new` is the first to name its session.
        return { is: 'message', answers: true, ...(frame.type === 'result' ? readSession(frame.result) : {}), ...asked };
      }
      case 'request':
      case 'notification': {
        const { method, params } = frame;
        const named = readSession(params);
        if (CLIENT_SENDS.has(method)) return { is: 'noise', why: 'echo of our request' };
        if (method === CLIENT_METHODS.session_update && isLoading(named.sessionId)) return { is: 'replayed', answers: false, method, ...named };
        const is = frame.type === 'request' && method === ASKS ? 'permission' : 'message';
        return { is, answers: false, method, ...named };
      }
      default:
        return unreachable(frame);
    }
  };

  const splitter: LineSplitter = lineSplitter({
    maxBytes: limits.maxLineBytes,
    onLine: handleLine,
    onTooLong: () => {
      if (open) breakOff(`a line of more than ${limits.maxLineBytes} bytes on stdout`);
    },
  });
  return {
    calls: sdk,
    receive(chunk) {
      if (open) splitter.push(chunk);
    },
    receiveEnd() {
      if (open) splitter.end();
    },
    close() {
      open = false;
      waiting.clear();
      sdk.close();
    },
  };
}

/** One of our requests or notifications, as far as its answer and a listener need it. */
interface Asked {
  readonly method: string;
  readonly sessionId?: string;
}

function readAsked(message: AnyMessage): Asked {
  return 'method' in message ? { method: message.method, ...readSession(message.params) } : { method: '' };
}

function promptedSession(asked: Asked | undefined): string | undefined {
  return asked?.method === AGENT_METHODS.session_prompt ? asked.sessionId : undefined;
}

function readSession(value: unknown): { readonly sessionId?: string } {
  const { sessionId } = isMembers(value) ? value : {};
  return isId(sessionId) ? { sessionId } : {};
}
