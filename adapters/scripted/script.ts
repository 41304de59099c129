/**
 * What a script can say, version 1: the types that the readers produce and the players play.
 * Every member is present after reading; a default is written where it is read, so a player never invents one.
 */
import type { Json, Members } from './json.ts';

export interface Script {
  readonly initialize: Initialize;
  readonly newSession: NewSession;
  readonly sessions: Sessions;
  readonly rules: readonly Rule[];
  readonly onCancel: OnCancel;
  /** Absent: the agent cannot be steered. */
  readonly onSteer: OnSteer | undefined;
  /** Method name to a fixed answer, for whatever the agent does not speak itself. */
  readonly answers: ReadonlyMap<string, FixedAnswer>;
  readonly gates: string | undefined;
  readonly banner: readonly string[];
  readonly echo: boolean;
  readonly ignoreStdinEof: boolean;
  readonly ignoreSigterm: boolean;
  readonly dieAtStart: { readonly ending: Ending; readonly afterMs: number } | undefined;
  readonly stdin: { readonly dieAfterBytes: number | undefined; readonly pauseAfterBytes: number | undefined };
}

export interface Initialize {
  readonly protocolVersion: number;
  readonly capabilities: Members | undefined;
  readonly agentInfo: Members | undefined;
  readonly authMethods: readonly Json[];
  readonly meta: Members | undefined;
  readonly delayMs: number;
  readonly never: boolean;
  readonly error: RpcError | undefined;
  readonly dieBefore: Ending | undefined;
}

export interface NewSession {
  readonly error: RpcError | undefined;
  readonly never: boolean;
  readonly systemPrompt: boolean;
  readonly modes: Json | undefined;
  readonly models: Json | undefined;
  readonly configOptions: Json | undefined;
  readonly before: readonly Members[];
  readonly after: readonly Members[];
}

/** What is advertised beside `session/new`. With `load` or `resume`, sessions outlive their process. */
export interface Sessions {
  readonly load: boolean;
  readonly resume: boolean;
  readonly close: boolean;
}

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data: Json | undefined;
}

export type FixedAnswer =
  | { readonly type: 'result'; readonly result: Json }
  | { readonly type: 'error'; readonly error: RpcError }
  | { readonly type: 'never' }
  | { readonly type: 'die'; readonly ending: Ending };

export interface OnCancel {
  readonly waitForAsks: boolean;
  readonly steps: readonly Step[];
}

/** What is answered to a message for the turn that is played; steps are played beside those of the turn. */
export interface OnSteer {
  readonly answer: FixedAnswer | { readonly type: 'outcome'; readonly outcome: SteerOutcome } | { readonly type: 'never' };
  readonly before: readonly Step[];
  readonly after: readonly Step[];
}

export type SteerOutcome = 'injected' | 'startedNewTurn' | 'promptRequired';

export type Match =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'regex'; readonly regex: RegExp };

export interface Rule {
  readonly match: Match | undefined;
  readonly when: Conditions;
  readonly unless: Conditions;
  readonly times: number;
  /** Name of a marker file: at most once for all processes that share the gates directory. */
  readonly once: string | undefined;
  readonly steps: readonly Step[];
}

/** Path in the variables, and the texts it may read as. */
export type Conditions = ReadonlyMap<string, readonly string[]>;

export interface Step {
  readonly act: Act;
  readonly when: Conditions;
  readonly unless: Conditions;
  readonly as: string | undefined;
}

export type Ending =
  | { readonly type: 'exit'; readonly code: number }
  | { readonly type: 'signal'; readonly signal: NodeJS.Signals };

interface Speech {
  readonly text: string;
  readonly chunks: number;
  readonly repeat: number;
  readonly byteByByte: boolean;
}

/** One thing a step does; `type` is the member's name in the script. */
export type Act =
  | ({ readonly type: 'say' } & Speech)
  | ({ readonly type: 'think' } & Speech)
  | {
      readonly type: 'tool';
      readonly title: string;
      readonly kind: string;
      readonly id: string | undefined;
      readonly rawInput: Json | undefined;
      readonly updates: readonly Members[];
    }
  | { readonly type: 'update'; readonly update: Members }
  | { readonly type: 'env'; readonly names: readonly string[] | undefined }
  | {
      readonly type: 'action';
      readonly action: string;
      readonly args: Members;
      readonly requestId: string | undefined;
      readonly attempts: number;
      readonly timeoutMs: number;
    }
  | {
      readonly type: 'reply';
      readonly text: string;
      readonly to: string;
      readonly mentions: Json;
      readonly requestId: string | undefined;
    }
  | {
      readonly type: 'post';
      readonly text: string;
      readonly channel: string;
      readonly mentions: Json;
      readonly requestId: string | undefined;
    }
  | {
      readonly type: 'ask';
      readonly title: string;
      readonly kind: string;
      readonly toolCallId: string | undefined;
      readonly toolCall: Members;
      readonly options: readonly Json[];
      readonly id: Json | undefined;
    }
  | { readonly type: 'request'; readonly method: string; readonly params: Json; readonly id: Json | undefined }
  | { readonly type: 'notify'; readonly method: string; readonly params: Json }
  | { readonly type: 'wait'; readonly on: { readonly type: 'gate'; readonly gate: string } | WaitSignal }
  | { readonly type: 'mark'; readonly name: string }
  | { readonly type: 'sleep'; readonly ms: number }
  | { readonly type: 'raw'; readonly bytes: Uint8Array; readonly repeat: number; readonly byteByByte: boolean }
  | { readonly type: 'stderr'; readonly text: string; readonly repeat: number }
  | {
      readonly type: 'spawn';
      readonly command: readonly [string, ...string[]] | undefined;
      readonly seconds: number;
      readonly detached: boolean;
      readonly trapTerm: boolean;
      readonly inheritStdio: boolean;
    }
  | { readonly type: 'hang' }
  | { readonly type: 'ignoreCancel' }
  | { readonly type: 'die'; readonly ending: Ending }
  | {
      readonly type: 'stop';
      readonly reason: string;
      readonly usage: Json | undefined;
      readonly meta: Json | undefined;
    }
  | { readonly type: 'error'; readonly error: RpcError };

export interface WaitSignal {
  readonly type: 'signal';
  readonly signal: NodeJS.Signals;
}

export type ActType = Act['type'];
export type ActOf<Type extends ActType> = Extract<Act, { readonly type: Type }>;
