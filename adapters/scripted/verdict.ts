/**
 * Reads the broker's answer to one request.
 * in: the response body and the request it must belong to. out: a verdict, or undefined where NIP-BA says that it is a
 * transport failure ("Result": shape, status/code pair, request id and action are validated before acceptance).
 * Signatures of events inside an outcome are not checked: this agent trusts its broker and shows what it was told.
 */
import { isMembers, parseJson } from './json.ts';
import type { Json, Members } from './json.ts';

export type Verdict =
  | { readonly status: 'succeeded'; readonly outcome: Members; readonly replayed: boolean }
  | {
      readonly status: 'failed' | 'indeterminate';
      readonly code: string;
      readonly message: string;
      readonly replayed: boolean;
    };

export interface Asked {
  readonly action: string;
  readonly requestId: string;
}

const CODES: ReadonlyMap<string, readonly string[]> = new Map([
  ['invalid_request', ['failed']],
  ['unsupported_protocol_version', ['failed']],
  ['unknown_action', ['failed']],
  ['unsupported_action_version', ['failed']],
  ['unsupported', ['failed']],
  ['unauthenticated', ['failed']],
  ['unauthorized', ['failed']],
  ['request_id_conflict', ['failed']],
  ['action_failed', ['failed']],
  ['outcome_unknown', ['indeterminate']],
  ['internal', ['failed', 'indeterminate']],
]);

/** Actions whose outcome is Published: exactly eventId, kind and createdAt. */
const PUBLISHING: ReadonlySet<string> = new Set([
  'message.post', 'message.reply', 'reaction.add', 'profile.set', 'storage.put', 'presence.set', 'typing.set',
  'liveness.ping',
]);

export function readVerdict(body: string, asked: Asked): Verdict | undefined {
  const result = parseJson(body);
  if (!isMembers(result)) return undefined;
  const { type, protocolVersion, requestId, status, replayed = false } = result;
  if (type !== 'broker_result' || protocolVersion !== 1 || requestId !== asked.requestId) return undefined;
  if (typeof replayed !== 'boolean') return undefined;
  if (status === 'succeeded') {
    if (!hasOnly(result, [...COMMON, 'action', 'outcome']) || result['action'] !== asked.action) return undefined;
    const outcome = result['outcome'];
    if (!isMembers(outcome) || (PUBLISHING.has(asked.action) && !isPublished(outcome))) return undefined;
    return { status, outcome, replayed };
  }
  if (status !== 'failed' && status !== 'indeterminate') return undefined;
  const error = result['error'];
  if (!hasOnly(result, [...COMMON, 'error'])) return undefined;
  if (!isMembers(error) || !hasOnly(error, ['code', 'message'])) return undefined;
  const { code, message } = error;
  if (typeof code !== 'string' || typeof message !== 'string') return undefined;
  return CODES.get(code)?.includes(status) === true ? { status, code, message, replayed } : undefined;
}

const COMMON = ['type', 'protocolVersion', 'requestId', 'status', 'replayed'] as const;

function hasOnly(object: Members, names: readonly string[]): boolean {
  return Object.keys(object).every((name) => names.includes(name));
}

function isPublished(outcome: Members): boolean {
  const { eventId, kind, createdAt } = outcome;
  const hex = typeof eventId === 'string' && /^[0-9a-f]{64}$/.test(eventId);
  return hex && isCount(kind) && isCount(createdAt) && hasOnly(outcome, ['eventId', 'kind', 'createdAt']);
}

function isCount(value: Json | undefined): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
