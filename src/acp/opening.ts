/**
 * How a session of one process begins: anew, or as it was left by an earlier one; then what is done in it before its first
 * prompt. What an agent says of its earlier turns while it opens a session is of no turn, and goes nowhere.
 * in: what a session is to be like. out: its id, and which wishes were not granted. It prompts nothing.
 */
import { AGENT_METHODS } from '@agentclientprotocol/sdk';
import type { Dialect } from '../../adapters/index.ts';
import { excerpt, within } from '../model/index.ts';
import type { Clock, Waited } from '../model/index.ts';
import { isDirectory } from './child.ts';
import type { Connection } from './connection.ts';
import { INTERNAL_ERROR } from './frames.ts';
import type { Members } from './frames.ts';
import type { AgentTraits } from './handshake.ts';
import type { AcpLimits } from './limits.ts';
import type {
  ModelTrouble, ReopenRequest, SessionRefused, SessionRequest, SessionStarted, SettingChange, SettingName, StdioMcpServer, WishedSettings,
} from './ports.ts';
import type { CallResult } from './sdk-client.ts';
import type { SessionBook } from './session-book.ts';
import { newSessionParams, readSessionId } from './session-request.ts';
import { readSettings } from './session-settings.ts';
import { SessionSetup } from './session-setup.ts';
import { changeSetting } from './setting-change.ts';
import type { AgentError } from './trouble.ts';
import type { UsageBook } from './usage.ts';

const INVALID_PARAMS = -32602;

export interface OpeningParts {
  readonly calls: Connection['calls'];
  readonly clock: Clock;
  readonly limits: AcpLimits;
  /** Offered in every session. */
  readonly mcpServers: readonly StdioMcpServer[];
  readonly dialect: Dialect;
  readonly sessions: SessionBook;
  readonly usage: UsageBook;
  /** What the end of the process means for a request. */
  readonly closed: () => Extract<SessionRefused, { readonly code: 'process_ended' }>;
  /** An agent's words, fit to be shown. */
  readonly detail: (message: string) => string;
  /** What an error says beside its code. */
  readonly failure: (error: AgentError) => { readonly message: string; readonly trouble?: ModelTrouble };
  /** A session could not be put into the mode in which the agent asks. */
  readonly onNotAsking: (detail: string) => void;
}

export class SessionOpening {
  readonly #parts: OpeningParts;
  readonly #setup: SessionSetup;
  #reopens: AgentTraits['reopens'] = 'none';

  constructor(parts: OpeningParts) {
    this.#parts = parts;
    const { dialect: { startMode }, sessions, detail, onNotAsking } = parts;
    this.#setup = new SessionSetup({
      ask: (method, params) => this.#ask(method, params),
      change: (sessionId, setting, value) => this.change(sessionId, setting, value),
      settings: (sessionId) => sessions.settings(sessionId),
      startMode,
      onNotAsking: (words) => { onNotAsking(detail(words)); },
    });
  }

  /** The agent has answered initialize. */
  knows({ systemPrompt, reopens }: AgentTraits): void {
    this.#setup.form = systemPrompt;
    this.#reopens = reopens;
  }

  get takesSystemPrompt(): boolean {
    return this.#setup.form !== 'none';
  }

  change(sessionId: string, setting: SettingName, value: string): Promise<SettingChange> {
    const { sessions, closed, detail, clock, limits, calls } = this.#parts;
    return changeSetting({ sessionId, setting, value }, {
      sessions, closed, detail, ask: (method, params) => within(clock, limits.modelMs, calls.call(method, params)),
    });
  }

  async anew(request: SessionRequest): Promise<SessionStarted> {
    const problem = await noDirectory(request);
    if (problem !== undefined) return problem;
    const { clock, limits, calls } = this.#parts;
    const waited = await within(clock, limits.callMs, calls.newSession(this.#paramsOf(request)));
    const answer = this.#answered('session/new', waited);
    if (!answer.ok) return answer;
    const sessionId = readSessionId(answer.result);
    if (sessionId === undefined) return refused('session/new: the answer holds no session id');
    if (!this.#parts.sessions.open(sessionId, readSettings(answer.result))) {
      return { ok: false, code: 'id_taken', detail: 'session/new: the session id was given before' };
    }
    this.#parts.usage.opened(sessionId);
    return this.#prepared(sessionId, answer.result, request);
  }

  async again(request: ReopenRequest): Promise<SessionStarted> {
    if (this.#reopens === 'none') throw new TypeError('a session is opened again by an agent that does not offer it');
    const method = this.#reopens === 'resume' ? AGENT_METHODS.session_resume : AGENT_METHODS.session_load;
    const { sessionId, turnSeq } = request;
    const { sessions, usage } = this.#parts;
    if (sessions.isOpen(sessionId)) return refused(`${method}: the session is open`);
    const problem = await noDirectory(request);
    if (problem !== undefined) return problem;
    usage.reopened(sessionId, turnSeq);
    const answer = this.#answered(method, await this.#ask(method, { sessionId, ...this.#paramsOf(request) }));
    if (!answer.ok) return answer;
    // What came while it was asked for may have opened it otherwise.
    if (!sessions.open(sessionId, readSettings(answer.result))) return refused(`${method}: the session is open`);
    return this.#prepared(sessionId, answer.result, request);
  }

  #paramsOf(request: SessionRequest): ReturnType<typeof newSessionParams> {
    return newSessionParams(request, this.#setup.form, this.#parts.mcpServers);
  }

  #ask(method: string, params: Members): Promise<Waited<CallResult>> {
    const { clock, limits, calls } = this.#parts;
    return within(clock, limits.callMs, calls.call(method, params));
  }

  #answered(method: string, waited: Waited<CallResult>): { readonly ok: true; readonly result: unknown } | SessionRefused {
    const { limits, closed, failure } = this.#parts;
    if (waited.status === 'late') return { ok: false, code: 'timeout', detail: `${method}: no answer within ${limits.callMs} ms` };
    switch (waited.value.status) {
      case 'closed':
        return closed();
      case 'error': {
        const { message, trouble } = failure(waited.value);
        return { ok: false, code: 'error', rpcCode: waited.value.code, detail: message, ...(trouble && { trouble }) };
      }
      case 'result':
        return { ok: true, result: waited.value.result };
    }
  }

  async #prepared(sessionId: string, answer: unknown, { systemPrompt, wished = {} }: { readonly systemPrompt?: string; readonly wished?: WishedSettings }): Promise<SessionStarted> {
    const tookSystemPrompt = systemPrompt !== undefined && (await this.#setup.takesText(sessionId, systemPrompt));
    const notGranted = await this.#setup.settle(sessionId, wished);
    return { ok: true, sessionId, tookSystemPrompt, refused: notGranted, answer };
  }
}

/** Agents differ in what they do with a missing directory; some run elsewhere. */
async function noDirectory({ cwd }: SessionRequest): Promise<SessionRefused | undefined> {
  if (await isDirectory(cwd)) return undefined;
  return { ok: false, code: 'error', rpcCode: INVALID_PARAMS, detail: `cwd: expected an existing directory, found ${excerpt(cwd, 200)}` };
}

function refused(detail: string): SessionRefused {
  return { ok: false, code: 'error', rpcCode: INTERNAL_ERROR, detail };
}
