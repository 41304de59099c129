/**
 * The frames of a turn and of the conversation with its agent: kinds and payloads, as NIP-AO "Frame Kinds" and Buzz have
 * them. The payload of an ACP line is the line; everything else is written here, member by member.
 */
import { jsonMembers } from '../nostr/index.ts';

/** A frame without its place. See `ObserverFrame` of the broker. */
export interface Told {
  readonly kind: string;
  readonly payload: string;
  readonly rank: 'lifecycle' | 'stream';
}

/** How a turn failed, in Buzz's words. `cancel_drain_timeout`: cancelled, and the process had to be ended for it. */
export interface TurnFailure {
  readonly outcome: 'error' | 'idle_timeout' | 'hard_timeout' | 'exited' | 'cancel_drain_timeout';
  readonly error: string;
  /** The agent's own JSON-RPC code. */
  readonly code?: number;
}

export interface Delivery {
  readonly promptBytes: number;
  readonly standingContextIncluded: boolean;
  /** Messages that this prompt brings: those it is about, and those of the conversation before it. */
  readonly eventDeltaCount: number;
  readonly contextManifest: unknown;
}

/** A line of the conversation. `method` of an answer is that of its request; a line without one is no message. */
export interface Line {
  readonly direction: 'read' | 'write';
  readonly text: string;
  readonly method?: string;
  /** Why it is no message. */
  readonly why?: string;
}

/** Characters of a line that is no message. */
const MAX_NOISE = 2_000;
/** What we ask an agent: rare, and each the frame of what follows. All else an agent could bring about without end. */
const WEIGHTY: ReadonlySet<string> = new Set([
  'initialize', 'session/new', 'session/load', 'session/resume', 'session/prompt', 'session/cancel', '_session/steering', '_goose/unstable/session/steer',
]);

/** How an agent is run. `agentCommand` and `agentArgs` must hold no secret any more. */
export interface HarnessSetup {
  readonly relayUrl: string;
  readonly agentCommand: string;
  readonly agentArgs: readonly string[];
  /** Its process slots. */
  readonly parallelism: number;
}

/** `waking`: no process is ready, and one is started or will be; `failed`: none can be started for some minutes. */
export interface RuntimeState {
  readonly lifecycle: 'listening' | 'waking' | 'ready' | 'failed';
  /** Of `failed`. */
  readonly error?: string;
}

/** Once for an agent in a run, as Buzz has it. Only who is told frames can read it, so the relay observes. */
export function harnessStarted({ relayUrl, agentCommand, agentArgs, parallelism }: HarnessSetup): Told {
  return lifecycle('harness_started', { relayUrl, agentCommand, agentArgs, parallelism, relayObserver: true });
}

/** The nonce is of Buzz's own launcher, which starts no agent of ours. */
export function runtimeLifecycle(pubkey: string, relayUrl: string, { lifecycle: state, error }: RuntimeState): Told {
  return lifecycle('managed_agent_runtime_lifecycle', { pubkey, relayUrl, startNonce: null, lifecycle: state, error: error?.toWellFormed() ?? null });
}

export function turnStarted(source: 'channel' | 'heartbeat', triggeringEventIds: readonly string[]): Told {
  return lifecycle('turn_started', { source, triggeringEventIds });
}

/** Once a turn, as Buzz does it: `isNewSession` says whether it was opened for it. */
export function sessionResolved(sessionId: string, isNewSession: boolean): Told {
  return lifecycle('session_resolved', { sessionId, isNewSession });
}

export function promptDelivered({ promptBytes, standingContextIncluded, eventDeltaCount, contextManifest }: Delivery): Told {
  return lifecycle('prompt_context_delivery', { promptBytes, standingContextIncluded, eventDeltaCount, contextManifest });
}

/** A message was taken into the turn under way: the manifest of all that the agent was given in it. */
export function promptSteered(contextManifest: unknown): Told {
  return lifecycle('prompt_context_steer', { contextManifest });
}

/** Never weighty: while a relay is away they would add up, and push out what matters. */
export function turnLiveness(): Told {
  return { kind: 'turn_liveness', payload: '{}', rank: 'stream' };
}

export function turnFailed({ outcome, error, code }: TurnFailure): Told {
  return lifecycle('turn_error', { outcome, error: error.toWellFormed(), ...(code !== undefined && { code }) });
}

export function turnCompleted(): Told {
  return lifecycle('turn_completed', {});
}

/** From the line that answers `initialize`; undefined when it holds no result. */
export function agentInitialized(agentIndex: number, answer: string): Told | undefined {
  const result = member(answer, 'result');
  return result === undefined ? undefined : { kind: 'agent_initialized', payload: `{"agentIndex":${agentIndex},"initializeResult":${result}}`, rank: 'lifecycle' };
}

/** From the line that answers what opens a session: what the agent says of its models and modes, as it stands, or null. */
export function sessionConfigured(answer: string): Told | undefined {
  const result = member(answer, 'result');
  if (result === undefined) return undefined;
  const part = (name: string): string => `"${name}":${member(result, name) ?? 'null'}`;
  return { kind: 'session_config_captured', payload: `{${part('configOptions')},${part('modes')},${part('models')}}`, rank: 'lifecycle' };
}

/** NIP-AO: `payload` is the raw line. One that is no message is told as such, and shortened: it may be anything. */
export function lineFrame({ direction, text, method, why }: Line): Told {
  if (method === undefined) {
    const line = text.length > MAX_NOISE ? `${text.slice(0, MAX_NOISE).toWellFormed()}…` : text.toWellFormed();
    return { kind: 'acp_parse_error', payload: JSON.stringify({ line, error: why ?? 'not_a_frame' }), rank: 'stream' };
  }
  return { kind: `acp_${direction}`, payload: text, rank: WEIGHTY.has(method) ? 'lifecycle' : 'stream' };
}

function lifecycle(kind: string, payload: object): Told {
  return { kind, payload: JSON.stringify(payload), rank: 'lifecycle' };
}

/** The text of a member of a JSON object. */
function member(text: string, name: string): string | undefined {
  return jsonMembers(text)?.members.findLast((one) => one.name === name)?.raw;
}
