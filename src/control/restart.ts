/** What may be asked of a running supervisor about one of its agents, version 1: that it ends and is started again. */
import { z } from 'zod';
import { excerpt, Failure, refuse } from '../model/index.ts';
import type { FailureCode, Log, Refusal } from '../model/index.ts';
import { parseJson } from './reading.ts';

export interface RestartRequest {
  readonly v: 1;
  readonly ask: 'agent.restart';
  /** Its name or its pubkey. */
  readonly agent: string;
}

/** Resolves when the agent has ended and is about to start; a refusal has changed nothing. May reject with a `Failure`. */
export type Restart = (agent: string) => Promise<{ readonly ok: true } | Refusal>;

const request = z.strictObject({ v: z.literal(1), ask: z.literal('agent.restart'), agent: z.string().max(128) });

/** A request for a restart, or undefined for anything else. */
export function asRestartRequest(asked: unknown): RestartRequest | undefined {
  const parsed = request.safeParse(asked);
  return parsed.success ? parsed.data : undefined;
}

/** Never rejects. Without `restart` the agents are not open yet, or are being closed. */
export async function answerRestart({ agent }: RestartRequest, restart: Restart | undefined, log: Log): Promise<object> {
  try {
    const answer = restart === undefined ? refuse('not_running', 'the supervisor is starting or stopping; ask again') : await restart(agent);
    return answer.ok ? { v: 1, ok: true } : { v: 1, error: answer.code, detail: answer.detail };
  } catch (error) {
    log.error('an agent could not be started again', { error });
    return { v: 1, error: 'internal' };
  }
}

const answer = z.union([
  z.object({ v: z.literal(1), ok: z.literal(true) }),
  z.object({ v: z.literal(1), error: z.string(), detail: z.exactOptional(z.string()) }),
]);

/** The rest is the owner's to mend: nothing was changed. */
const CODES: Readonly<Partial<Record<string, FailureCode>>> = { agent: 'usage', unavailable: 'relay', not_running: 'not_running', internal: 'not_seen' };

/** True for the answer that it is restarted; undefined for what is none. Throws the `Failure` that a refusal is. */
export function parseRestartAnswer(line: string): true | undefined {
  const parsed = answer.safeParse(parseJson(line));
  if (!parsed.success) return undefined;
  if ('ok' in parsed.data) return true;
  const { error, detail } = parsed.data;
  if (error === 'unknown_request') return undefined;
  throw new Failure(CODES[error] ?? 'not_changed', detail === undefined ? 'the supervisor had a fault; its log says more' : excerpt(detail, 600));
}
