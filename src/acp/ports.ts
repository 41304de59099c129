/**
 * What a running agent program is to the supervisor: one process, its sessions, one call at a time each with a
 * deadline of ours. Everything that waits settles when the process ends.
 */
import type { ObservedUsage } from '../metrics/index.ts';
import type { PoisonCause } from './permission-ports.ts';

/** How to start a program. `env` is the whole environment of the child: nothing is inherited. */
export interface LaunchPlan {
  readonly agentName: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Offered to the agent in every session; none by default. */
  readonly mcpServers?: readonly StdioMcpServer[];
}

/** An MCP server that the agent starts itself and speaks to over stdio. `env` is what it gets beside the agent's own. */
export interface StdioMcpServer {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

interface Exited {
  readonly exitCode: number;
  /** The end of its stderr, redacted. */
  readonly stderrTail: string;
}

/** Why a process could not be used, or ended. Six start failures are told apart, then the ways of ending. */
export type ProcessEnd =
  | { readonly how: 'not_found'; readonly command: string }
  | { readonly how: 'not_executable'; readonly command: string }
  /** It is there, but not what its first line names to run it; undefined where it names none (a loader is missing). */
  | { readonly how: 'no_interpreter'; readonly command: string; readonly interpreter: string | undefined }
  | { readonly how: 'exited_at_start'; readonly command: string } & Exited
  | { readonly how: 'start_timeout'; readonly command: string; readonly afterMs: number }
  | { readonly how: 'start_refused'; readonly command: string; readonly detail: string }
  | { readonly how: 'exited' } & Exited
  | { readonly how: 'signalled'; readonly signal: string; readonly stderrTail: string }
  | { readonly how: 'protocol'; readonly detail: string }
  /** We ended it, because what it has read of an answer is not known. */
  | { readonly how: 'poisoned'; readonly cause: PoisonCause }
  | { readonly how: 'stopped' };

export type StopReason = 'end_turn' | 'cancelled' | 'max_tokens' | 'max_turn_requests' | 'refusal';

/** We ended the turn. The process is gone when the agent did not heed the cancel. */
interface Interrupted {
  readonly processAlive: boolean;
  readonly seen: TurnOutput;
}

/** What an error says of the provider of the model. `retryAfterMs`: how long it asks to be left alone, where it says so. */
export type ModelTrouble =
  | { readonly is: 'login' }
  | { readonly is: 'limit'; readonly retryAfterMs?: number };

/**
 * How one prompt ended. `ended` is the agent's own word (`end_turn` where it gave none that ACP knows); the rest is ours.
 * `inAnswer`: the turn "ended", and `message` is what the agent said in it.
 */
export type PromptOutcome =
  | { readonly status: 'ended'; readonly stopReason: StopReason; readonly seen: TurnOutput }
  | { readonly status: 'error'; readonly code: number; readonly message: string; readonly trouble?: ModelTrouble; readonly inAnswer?: true; readonly seen: TurnOutput }
  | { readonly status: 'idle_timeout'; readonly afterMs: number } & Interrupted
  | { readonly status: 'hard_timeout'; readonly afterMs: number } & Interrupted
  | { readonly status: 'cancelled' } & Interrupted
  /** NIP-AO `PermissionPoisoned`; the process is replaced. */
  | { readonly status: 'permission_poisoned'; readonly cause: PoisonCause; readonly seen: TurnOutput }
  | { readonly status: 'process_ended'; readonly end: ProcessEnd; readonly seen: TurnOutput };

/**
 * What the agent streamed in the turn. `text` is its message text, well-formed: whole, or where `textCut` says so the
 * longest beginning of it that ends between scalars and has at most `maxTextBytes` (64 KiB) in UTF-8.
 */
export interface TurnOutput {
  readonly text: string;
  readonly textCut: boolean;
  readonly thoughts: number;
  readonly toolCalls: number;
  readonly updates: number;
  /** What the turn has used, where the agent told anything of it. */
  readonly usage?: ObservedUsage;
}

export interface PromptRequest {
  readonly sessionId: string;
  /** ACP text blocks in order. */
  readonly blocks: readonly string[];
  /** Told in `_meta.skep`: what an agent says of its turn has to name it (NIP-BA `liveness.ping`). */
  readonly turnId?: string;
  /** No sign that the turn goes on for this long ends it. */
  readonly idleTimeoutMs: number;
  /** The turn ends after this long whatever happens. */
  readonly hardTimeoutMs: number;
  /** Called once the prompt's bytes were handed to the pipe. */
  readonly onSent?: () => void;
}

/**
 * What an agent made of a message for a turn under way. `injected`: it has it, and had streamed `textFrom` UTF-16 units of
 * text by then. `new_turn`: it has begun a turn of its own with it. `prompt_required`: its turn was over. `unanswered`:
 * whether it has read it is not known.
 */
export type SteerOutcome =
  | { readonly status: 'injected'; readonly textFrom: number }
  | { readonly status: 'new_turn' | 'prompt_required' | 'unanswered' }
  | { readonly status: 'refused'; readonly detail: string };

export interface SessionRequest {
  readonly cwd: string;
  /** The standing text for the system role; only given when `takesSystemPrompt` is true. */
  readonly systemPrompt?: string;
  /** What the session is put to before its first prompt, where the agent offers it. */
  readonly wished?: WishedSettings;
}

/** A session of an earlier process, or one that was closed; the rest is what it was opened with. */
export interface ReopenRequest extends SessionRequest {
  readonly sessionId: string;
  /** Turns of it whose usage was told (NIP-AM `turnSeq`); the next one has the next number. */
  readonly turnSeq: number;
}

/** What can be chosen in a session: its model, its mode, how hard it thinks. */
export type SettingName = 'model' | 'mode' | 'effort';
export type WishedSettings = { readonly [Name in SettingName]?: string };

/** A wish that the agent did not grant. `offered` is what could be chosen in its place; empty where that is nothing. */
export interface RefusedSetting {
  readonly setting: SettingName;
  readonly value: string;
  readonly offered: readonly string[];
  readonly detail: string;
}

/** One thing that can be chosen in a session: the ids there are, and the chosen one where the agent said it. */
export interface Choice {
  readonly values: readonly string[];
  readonly current?: string;
}

export interface ConfigOption extends Choice {
  readonly id: string;
  /** `model`, `mode`, `thought_level`, or the agent's own word. */
  readonly category?: string;
}

/** What an agent lets choose in a session, as it said at its opening and since. */
export interface SessionSettings {
  readonly configOptions: readonly ConfigOption[];
  readonly models?: Choice;
  readonly modes?: Choice;
}

/** `unsupported`: the agent does not offer that value, or will not have it. */
export type SettingChange =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: 'unsupported'; readonly detail: string }
  | Exclude<SessionRefused, { readonly code: 'error' | 'id_taken' }>;

/**
 * What a line is, as far as the connection has to know. `replayed` is an update of a session that is being loaded: it
 * was said before. `permission` is a `session/request_permission` or our answer to
 * one, of which their desk is told, too. `method` of an answer is that of its request, and `sessionId` that of either.
 */
export type LineAbout =
  | { readonly is: 'message' | 'permission' | 'replayed'; readonly method: string; readonly answers: boolean; readonly sessionId?: string }
  | { readonly is: 'noise'; readonly why: string };

/** Every line of the conversation as it stood, without its line break; lines of noise that the agent prints too. */
export type LineTap = (direction: 'read' | 'write', text: string, about: LineAbout) => void;

export interface AgentProcess {
  readonly pid: number;
  /** True when a new session is given the standing text in a system role; else it goes into the first prompt. */
  readonly takesSystemPrompt: boolean;
  readonly agentInfo: { readonly name: string; readonly version: string };
  /** Its answer to initialize, as it stood. */
  readonly initialized: Readonly<Record<string, unknown>>;
  newSession(request: SessionRequest): Promise<SessionStarted>;
  /** How it goes on with a session of an earlier process; `load` sends what was said in it again, which goes nowhere. */
  readonly reopens: 'resume' | 'load' | 'none';
  /** Goes on with a session, as `reopens` says; only where it is not `none`. An error of any code means: not this one. */
  reopenSession(request: ReopenRequest): Promise<SessionStarted>;
  /** It takes `session/close`. */
  readonly closesSessions: boolean;
  /** What can be chosen in a session; undefined for one that is not known, or no longer. */
  settings(sessionId: string): SessionSettings | undefined;
  /** Chooses the model of a session, by whatever the agent offers for it. Resolves in bounded time, never rejects. */
  setModel(sessionId: string, modelId: string): Promise<SettingChange>;
  /** Lets go of a session that nobody prompts any more, where the agent offers that. Returns at once. */
  closeSession(sessionId: string): void;
  /** One prompt at a time in a session; a second is a bug. Never rejects. */
  prompt(request: PromptRequest): Promise<PromptOutcome>;
  /** Whether a tool call of the turn under way in the session goes on, or a permission request of it waits. */
  isAtWork(sessionId: string): boolean;
  /** Whether the turn under way in the session could be given more (`steer`). */
  canSteer(sessionId: string): boolean;
  /** Gives `text`, one ACP text block, to the turn under way; one at a time. Resolves in bounded time, never rejects. */
  steer(sessionId: string, text: string): Promise<SteerOutcome>;
  /**
   * Asks the agent to stop the turn (`session/cancel`), tells the permission desk, and waits the
   * cancel grace. The prompt then ends as `cancelled`, with `processAlive: false` when the agent ignored it and the
   * group was killed. A prompt that was not sent yet never is, and ends as `cancelled` at once.
   */
  cancel(sessionId: string): void;
  /**
   * Ends stdin, waits, SIGTERM to the group and every descendant, waits, SIGKILL to them. With `force` SIGKILL at once,
   * also where a gentle stop is under way, which is cut short. Resolves when all are gone. Twice is once.
   */
  stop(options?: { readonly force?: boolean }): Promise<void>;
  /** Settles once, when the program and its whole group are gone. */
  readonly ended: Promise<ProcessEnd>;
}

export type SessionStarted =
  | {
      readonly ok: true;
      readonly sessionId: string;
      /** The standing text is in a system role; false where none was given, or where it was not taken. */
      readonly tookSystemPrompt: boolean;
      /** Wishes that were not granted; a mode of the profile's is not among them. */
      readonly refused: readonly RefusedSetting[];
      /** The agent's answer, as it stood. */
      readonly answer: unknown;
    }
  | SessionRefused;

export type SessionRefused =
  | { readonly ok: false; readonly code: 'error'; readonly rpcCode: number; readonly detail: string; readonly trouble?: ModelTrouble }
  /** The agent gave an id that it has given before: only another process of it has a session to give. */
  | { readonly ok: false; readonly code: 'id_taken'; readonly detail: string }
  | { readonly ok: false; readonly code: 'timeout'; readonly detail: string }
  | { readonly ok: false; readonly code: 'process_ended'; readonly detail: string; readonly end: ProcessEnd };

/** Where a credential and an endpoint go in the child's environment. */
export const ENV_ENDPOINT = 'SKEP_BROKER_URL';
export const ENV_CREDENTIAL = 'SKEP_CREDENTIAL';
