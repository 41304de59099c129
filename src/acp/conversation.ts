/**
 * The sessions of one agent process: prompts them one turn at a time each, and answers what the agent asks.
 *
 * Fixed rules: a permission request is put to the desk of the process, which is told what turn it belongs to, and when
 * that turn, or the process, is on its end. What shows that a turn goes on (progress.ts) keeps it alive, and no other frame
 * does. Whom each of the agent's words is for is hearing.ts.
 */
import { AGENT_METHODS } from '@agentclientprotocol/sdk';
import type { Dialect } from '../../adapters/index.ts';
import { excerpt, within } from '../model/index.ts';
import type { Clock, Log } from '../model/index.ts';
import { AgentErrors } from './agent-errors.ts';
import { openConnection } from './connection.ts';
import type { Connection } from './connection.ts';
import { guardedDesk } from './desk.ts';
import { describeEnd } from './ends.ts';
import type { AgentTraits } from './handshake.ts';
import { openHearing } from './hearing.ts';
import type { OpenTurn } from './hearing.ts';
import type { AcpLimits } from './limits.ts';
import { SessionOpening } from './opening.ts';
import { outputCounter } from './output.ts';
import type { OpenPermissionDesk, PermissionDesk, PermissionReply, PermissionRequest, PoisonCause, RequestTurn } from './permission-ports.ts';
import type {
  LineTap, ProcessEnd, PromptOutcome, PromptRequest, ReopenRequest, SessionRefused, SessionRequest, SessionSettings, SessionStarted, SettingChange,
  SteerOutcome, StdioMcpServer,
} from './ports.ts';
import type { Redactor } from './redaction.ts';
import { SessionBook } from './session-book.ts';
import { readStopReason } from './session-request.ts';
import { currentOf } from './session-settings.ts';
import { shows } from './signs.ts';
import { Steering } from './steering.ts';
import { Turn } from './turn.ts';
import { UsageBook } from './usage.ts';
import { afterReading } from './waiting.ts';

interface ConversationParts {
  readonly write: (line: string, done?: (written: boolean) => void) => void;
  readonly permission: OpenPermissionDesk;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: AcpLimits;
  readonly redacted: Redactor;
  /** Offered in every session. */
  readonly mcpServers: readonly StdioMcpServer[];
  readonly dialect: Dialect;
  readonly onLine?: LineTap;
  /** The agent sent a frame. */
  readonly onHeard: () => void;
  readonly onTurnEnded: () => void;
  /** The answer to a prompt holds no stop reason of ACP; what was found in its place. */
  readonly onOddStop: (found: string) => void;
  /** A session could not be put into the mode in which the agent asks. */
  readonly onNotAsking: (detail: string) => void;
  /** The agent does not speak the protocol. */
  readonly onBroken: (detail: string) => void;
  /** A turn was cancelled and the agent did not heed it. */
  readonly onUnresponsive: () => void;
  /** What the agent has read is not known. */
  readonly onPoisoned: (cause: PoisonCause) => void;
}

export class Conversation {
  readonly connection: Connection;
  readonly #parts: ConversationParts;
  readonly #turns = new Map<string, OpenTurn>();
  readonly #sessions = new SessionBook();
  readonly #errors: AgentErrors;
  readonly #desk: PermissionDesk;
  readonly #usage: UsageBook;
  readonly #opening: SessionOpening;
  readonly #steering: Steering;
  #closesSessions = false;
  #stopping = false;
  #over: ProcessEnd | undefined;

  constructor(parts: ConversationParts) {
    this.#parts = parts;
    this.#usage = new UsageBook(parts.dialect.usage);
    const { write, redacted, limits, clock, log, onLine, onHeard, onTurnEnded, onBroken, dialect } = parts;
    this.#errors = new AgentErrors(redacted, dialect.errorSigns);
    const detail = (message: string): string => this.#errors.detail(message);
    this.#steering = new Steering({ call: (method, params) => this.connection.calls.call(method, params), clock, limits, detail });
    this.connection = openConnection({
      write,
      events: openHearing({
        turns: this.#turns, sessions: this.#sessions, usage: this.#usage, steering: this.#steering, dialect, onHeard, onTurnEnded, onBroken,
        onPermission: (request, line, reply) => { this.#ask(request, line, reply); },
      }),
      limits,
      clock,
      log,
      ...(onLine === undefined ? {} : { onLine }),
      ...(dialect.remarkSigns && { isRemark: (update: unknown) => shows(update, dialect.remarkSigns) }),
    });
    this.#opening = new SessionOpening({
      calls: this.connection.calls, clock, limits, dialect, mcpServers: parts.mcpServers, sessions: this.#sessions, usage: this.#usage,
      closed: () => this.#closed(), detail, failure: (error) => this.#errors.failure(error), onNotAsking: parts.onNotAsking,
    });
    const desk = parts.permission({
      suspendIdle: (sessionId) => { this.#turns.get(sessionId)?.turn.take({ type: 'suspend' }); },
      resumeIdle: (sessionId) => { this.#turns.get(sessionId)?.turn.take({ type: 'resume' }); },
      poison: (cause) => { this.#poison(cause); },
    });
    this.#desk = guardedDesk(desk, log);
  }

  /** The agent has answered initialize. */
  knows(traits: AgentTraits): void {
    this.#opening.knows(traits);
    this.#steering.offered = traits.steers;
    this.#closesSessions = traits.closesSessions;
  }

  get takesSystemPrompt(): boolean {
    return this.#opening.takesSystemPrompt;
  }

  newSession(request: SessionRequest): Promise<SessionStarted> {
    return this.#opening.anew(request);
  }

  reopenSession(request: ReopenRequest): Promise<SessionStarted> {
    return this.#opening.again(request);
  }

  settings(sessionId: string): SessionSettings | undefined {
    return this.#sessions.settings(sessionId);
  }

  setModel(sessionId: string, modelId: string): Promise<SettingChange> {
    return this.#opening.change(sessionId, 'model', modelId);
  }

  prompt(request: PromptRequest): Promise<PromptOutcome> {
    const { sessionId, idleTimeoutMs, hardTimeoutMs } = request;
    if (this.#turns.has(sessionId)) throw new TypeError(`session ${excerpt(sessionId)}: a turn is running already`);
    if (!(idleTimeoutMs > 0 && hardTimeoutMs > 0 && Number.isFinite(idleTimeoutMs + hardTimeoutMs))) {
      throw new TypeError('a turn needs an idle and a hard timeout, in milliseconds above 0');
    }
    const { clock, limits } = this.#parts;
    if (this.#over !== undefined) {
      return Promise.resolve({ status: 'process_ended', end: this.#over, seen: outputCounter(0).output() });
    }
    const turn = new Turn({
      bounds: { idleTimeoutMs, hardTimeoutMs, limits },
      maxTextBytes: limits.maxTextBytes,
      clock,
      sendCancel: (overtime) => { void this.#sendCancel(request, overtime); },
      kill: this.#parts.onUnresponsive,
    });
    this.#turns.set(sessionId, { turn, request });
    void this.#converse(turn, request);
    return turn.outcome.then((outcome) => {
      this.#turns.delete(sessionId);
      this.#steering.over(sessionId);
      if (request.turnId !== undefined) this.#desk.turnOver(request.turnId);
      const usage = this.#usage.end(sessionId);
      if (usage === undefined) return outcome;
      // The agent's own word on the turn goes before what the session is set to.
      const model = usage.model ?? currentOf(this.#sessions.settings(sessionId), 'model');
      return { ...outcome, seen: { ...outcome.seen, usage: { ...usage, ...(model === undefined ? {} : { model }) } } };
    });
  }

  isAtWork(sessionId: string): boolean {
    return this.#turns.get(sessionId)?.turn.isAtWork === true;
  }

  canSteer(sessionId: string): boolean {
    return this.#steering.can(sessionId);
  }

  async steer(sessionId: string, text: string): Promise<SteerOutcome> {
    const turn = this.#turns.get(sessionId)?.turn;
    return turn?.running === true ? this.#steering.steer(sessionId, text, turn) : { status: 'prompt_required' };
  }

  cancel(sessionId: string): void {
    this.#turns.get(sessionId)?.turn.take({ type: 'cancel' });
  }

  /** The process is being stopped: asks running turns to end, so that tools end too, and grants nothing more. */
  stopping(): void {
    if (this.#stopping) return;
    this.#stopping = true;
    for (const [sessionId, { turn }] of this.#turns) if (turn.running) void this.connection.calls.cancel(sessionId);
    this.#desk.stopping();
  }

  /** Lets go of every session, where the agent offers that, so that their tools end with them. Resolves in bounded time. */
  async closeSessions(): Promise<void> {
    const { clock, limits } = this.#parts;
    await within(clock, limits.closeMs, Promise.all(this.#sessions.ids().map((sessionId) => this.closeSession(sessionId))));
  }

  async closeSession(sessionId: string): Promise<void> {
    if (!this.#closesSessions || !this.#sessions.delete(sessionId)) return;
    await this.connection.calls.call(AGENT_METHODS.session_close, { sessionId });
  }

  /** The process has ended: everything that waits settles. */
  end(end: ProcessEnd): void {
    this.#over = end;
    this.connection.close();
    this.#desk.ended();
    for (const { turn } of [...this.#turns.values()]) turn.take({ type: 'process_ended', end });
  }

  /** NIP-AO "Cancel during write (poison)": from here on nothing is written to the process, nor read from it. */
  #poison(cause: PoisonCause): void {
    this.connection.close();
    for (const { turn } of [...this.#turns.values()]) turn.take({ type: 'poison', cause });
    this.#parts.onPoisoned(cause);
  }

  /** ACP: what the turn had asked is answered after the cancel. */
  async #sendCancel({ sessionId, turnId }: PromptRequest, overtime: boolean): Promise<void> {
    await this.connection.calls.cancel(sessionId);
    if (turnId !== undefined) this.#desk.turnCancelled(turnId, overtime);
  }

  async #converse(turn: Turn, { sessionId, blocks, turnId }: PromptRequest): Promise<void> {
    const prompt = blocks.map((text) => ({ type: 'text' as const, text }));
    // What an earlier turn said after its end may lie in the pipe, read by nobody yet. It is not this turn's.
    await afterReading();
    // Cancelled, or the process is being stopped: what is not sent does no work that nobody waits for.
    if (this.#isStopping() || !turn.open()) return;
    this.#usage.begin(sessionId);
    const called = await this.connection.calls.prompt({ sessionId, prompt, ...(turnId !== undefined && { _meta: { skep: { turnId } } }) });
    if (called.status === 'result') this.#usage.heard(sessionId, { type: 'answer', result: called.result });
    // Whatever it is called, we made it end: the end of the process tells the turn, and its work is not taken for done.
    if (this.#isStopping()) return;
    switch (called.status) {
      case 'closed':
        // `end` tells the turn why.
        return;
      case 'error':
        return turn.take({ type: 'failed', ...this.#errors.failure(called) });
      case 'result': {
        const { stopReason, odd } = readStopReason(called.result);
        if (odd !== undefined) this.#parts.onOddStop(this.#parts.redacted(odd));
        const disguised = stopReason === 'end_turn' ? this.#errors.disguised(turn) : undefined;
        if (disguised !== undefined) return turn.take({ type: 'failed', ...disguised });
        return turn.take({ type: 'answered', stopReason });
      }
    }
  }

  /** Asked through a method, because it changes while something is awaited. */
  #isStopping(): boolean {
    return this.#stopping;
  }

  #closed(): Extract<SessionRefused, { readonly code: 'process_ended' }> {
    const end = this.#over ?? { how: 'stopped' };
    return { ok: false, code: 'process_ended', detail: describeEnd(end), end };
  }

  #ask(request: PermissionRequest, line: string, reply: PermissionReply): void {
    const turn = this.#turnOf(request.sessionId);
    const answered = this.#turns.get(request.sessionId)?.turn.beginAsk();
    this.#desk.requested({ ...request, line, ...(turn && { turn }) }, (answer) => reply(answer).finally(answered));
  }

  /** A prompt that was not sent yet has asked nothing. */
  #turnOf(sessionId: string): RequestTurn | undefined {
    const running = this.#turns.get(sessionId);
    if (running === undefined) return undefined;
    const { turn, request: { turnId } } = running;
    if (turnId === undefined || !(turn.running || turn.closing)) return undefined;
    return { turnId, hardDeadline: turn.hardAt, cancelling: this.#stopping || turn.closing };
  }
}
