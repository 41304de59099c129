/**
 * What a step stands on: its turn, and the one door to the outside.
 * Players take a Stage and nothing else, so that main.ts alone decides what the outside is.
 */
import type { BrokerCall } from './broker-call.ts';
import type { Gates } from './gates.ts';
import type { Json } from './json.ts';
import type { Output } from './lines.ts';
import type { Peer } from './peer.ts';
import type { Ending, RpcError } from './script.ts';

export interface Outside {
  readonly peer: Peer;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly gates: Gates;
  /** Undefined where the environment names no broker. */
  readonly broker: BrokerCall | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly pid: number;
  readonly newId: () => string;
  /** Ends the process once everything written has left it; never resolves, unless the signal let it live. */
  readonly die: (ending: Ending) => Promise<void>;
}

export type PromptAnswer =
  | { readonly type: 'result'; readonly result: Json }
  | { readonly type: 'error'; readonly error: RpcError };

export interface Stage {
  readonly outside: Outside;
  readonly sessionId: string;
  /** The facts of the turn, and what its steps captured so far. */
  readonly variables: Map<string, Json>;
  /** Aborts when the turn is cancelled. */
  readonly signal: AbortSignal;
  /** Answers the prompt. The first answer counts, later ones are nothing. */
  readonly answer: (answer: PromptAnswer) => Promise<void>;
  /** From here on a cancel of this turn is not heard. */
  readonly ignoreCancel: () => void;
  /** Tells the turn that the client owes an answer, for clients that must answer before a cancel ends. */
  readonly owed: (reply: Promise<unknown>) => void;
}
