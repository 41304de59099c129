/**
 * What may be asked of a running supervisor about session credentials, version 1: requests and answers, read strictly
 * on both sides. An answer holds a token only where one was just made.
 */
import { z } from 'zod';
import type { CredentialDesk, IssuedCredential, SessionEntry } from '../broker/ports.ts';
import { asChannelId, asPubkey, excerpt, Failure, FAILURES, unreachable } from '../model/index.ts';
import type { ChannelId, FailureCode, Log, Pubkey } from '../model/index.ts';
import { branded, parseJson } from './reading.ts';

const words = z.array(z.string()).max(256);
const id = z.string().max(64);

const request = z.discriminatedUnion('ask', [
  z.strictObject({
    v: z.literal(1), ask: z.literal('session.issue'), agent: z.string(), actions: z.exactOptional(words),
    channels: z.exactOptional(words), lifetimeMs: z.exactOptional(z.number()), label: z.exactOptional(z.string()),
  }),
  z.strictObject({ v: z.literal(1), ask: z.literal('session.rotate'), id }),
  z.strictObject({ v: z.literal(1), ask: z.literal('session.revoke'), id }),
  z.strictObject({ v: z.literal(1), ask: z.literal('session.list') }),
]);

export type SessionRequest = z.output<typeof request>;

/** A request about sessions, or undefined for anything else. */
export function asSessionRequest(asked: unknown): SessionRequest | undefined {
  const parsed = request.safeParse(asked);
  return parsed.success ? parsed.data : undefined;
}

/** Never rejects: what the disk or a bug says is an answer, too. Without a desk the broker is not open yet. */
export async function answerSessions(asked: SessionRequest, desk: CredentialDesk | undefined, log: Log): Promise<object> {
  if (desk === undefined) return { v: 1, error: 'not_running', detail: 'the supervisor is starting or stopping; ask again' };
  try {
    const answer = await perform(asked, desk);
    return 'ok' in answer && !answer.ok ? { v: 1, error: 'usage', detail: answer.detail } : { v: 1, ...answer };
  } catch (error) {
    if (error instanceof Failure) return { v: 1, error: error.code, detail: error.message };
    log.error('a session credential could not be dealt with', { error });
    return { v: 1, error: 'internal' };
  }
}

type Done = { readonly ok: true; readonly issued?: IssuedCredential; readonly sessions?: readonly SessionEntry[] };

async function perform(asked: SessionRequest, desk: CredentialDesk): Promise<Done | { readonly ok: false; readonly detail: string }> {
  switch (asked.ask) {
    case 'session.issue': {
      const { agent, actions, channels, lifetimeMs, label } = asked;
      return await desk.issue({
        agent,
        ...(actions === undefined ? {} : { actions }),
        ...(channels === undefined ? {} : { channels }),
        ...(lifetimeMs === undefined ? {} : { lifetimeMs }),
        ...(label === undefined ? {} : { label }),
      });
    }
    case 'session.rotate':
      return await desk.rotate(asked.id);
    case 'session.revoke':
      return await desk.revoke(asked.id);
    case 'session.list':
      return { ok: true, sessions: desk.list() };
    default:
      return unreachable(asked);
  }
}

const pubkey = z.string().transform((text, context): Pubkey => branded(asPubkey(text), context));
const channelId = z.string().transform((text, context): ChannelId => branded(asChannelId(text), context));
const moment = z.number().int().nonnegative();

const issued = z.object({
  id: z.string(), token: z.string(), agent: z.string(), endpoint: z.string(), lasting: z.boolean(), expiresAtMs: z.exactOptional(moment),
});

const entry = z.object({
  id: z.string(), sort: z.enum(['issued', 'process']), state: z.enum(['live', 'expired', 'revoked', 'unusable']),
  agent: z.string(), pubkey, label: z.exactOptional(z.string()), actions: z.exactOptional(z.array(z.string())),
  channels: z.exactOptional(z.array(channelId)), createdAtMs: moment, expiresAtMs: z.exactOptional(moment),
  revokedAtMs: z.exactOptional(moment), usedAtMs: z.exactOptional(moment),
  turn: z.exactOptional(z.object({ turnId: z.string(), channelId })),
});

const answer = z.union([
  z.object({ v: z.literal(1), ok: z.literal(true), issued: z.exactOptional(issued), sessions: z.exactOptional(z.array(entry)) }),
  z.object({ v: z.literal(1), error: z.string(), detail: z.exactOptional(z.string()) }),
]);

export type SessionAnswer = Extract<z.output<typeof answer>, { readonly ok: true }>;

/** The answer in one line of JSON; undefined for what is none. Throws the `Failure` that the supervisor tells of. */
export function parseSessionAnswer(line: string): SessionAnswer | undefined {
  const parsed = answer.safeParse(parseJson(line));
  if (!parsed.success) return undefined;
  if ('ok' in parsed.data) return parsed.data;
  const { error, detail } = parsed.data;
  if (error === 'unknown_request') return undefined;
  const code = isFailureCode(error) ? error : 'not_seen';
  throw new Failure(code, detail === undefined ? 'the supervisor had a fault; its log says more' : excerpt(detail, 300));
}

function isFailureCode(text: string): text is FailureCode {
  return Object.hasOwn(FAILURES, text);
}
