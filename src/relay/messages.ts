/**
 * Client messages: one strict parse of `["EVENT" | "AUTH" | "REQ" | "COUNT" | "CLOSE", ...]` (NIP-01, 42, 45).
 * What cannot be read is answered where its sender looks for the answer: OK by event id, CLOSED by subscription id, and
 * NOTICE only where neither is known. A bad message never costs the connection.
 */
import { asEventId, excerpt, refuse } from '../model/index.ts';
import type { EventId } from '../model/index.ts';
import { parseEvent, parseFilter } from '../nostr/index.ts';
import type { Filter, UnverifiedEvent } from '../nostr/index.ts';
import type { RelayRefusal } from './answers.ts';
import type { RelayLimits } from './limits.ts';

/** A filter and, for paging, the id that the previous page ended on (NIP-AP "Current version and history"). */
export interface Query {
  readonly filter: Filter;
  readonly beforeId?: EventId;
}

export type ClientMessage =
  | { readonly type: 'event' | 'auth'; readonly event: UnverifiedEvent }
  | { readonly type: 'req' | 'count'; readonly id: string; readonly queries: readonly Query[] }
  | { readonly type: 'close'; readonly id: string }
  | { readonly type: 'bad_event' | 'bad_subscription'; readonly id: string; readonly refusal: RelayRefusal }
  | { readonly type: 'bad_message'; readonly refusal: RelayRefusal };

/** `bytes` is one text message as it came. Never throws. */
export function parseClientMessage(bytes: Buffer, limits: RelayLimits): ClientMessage {
  const value = parseJson(bytes.toString('utf8'));
  if (!Array.isArray(value)) return badMessage('expected a JSON array');
  const [verb, subject, ...rest] = value as readonly unknown[];
  const tooLong = bytes.length > limits.maxMessageBytes
    ? invalid(`message: expected at most ${limits.maxMessageBytes} bytes, found ${bytes.length}`)
    : undefined;
  switch (verb) {
    case 'EVENT':
    case 'AUTH':
      return readEvent(verb === 'EVENT' ? 'event' : 'auth', subject, tooLong);
    case 'REQ':
    case 'COUNT':
      return readRequest(verb === 'REQ' ? 'req' : 'count', subject, rest, tooLong, limits);
    case 'CLOSE':
      return isSubscriptionId(subject, limits) ? { type: 'close', id: subject } : badSubscriptionId(limits);
    default:
      return badMessage(`verb: expected EVENT, AUTH, REQ, COUNT or CLOSE, found ${describe(verb)}`);
  }
}

function readEvent(type: 'event' | 'auth', subject: unknown, tooLong: RelayRefusal | undefined): ClientMessage {
  const parsed = tooLong ?? parseEvent(subject);
  if (parsed.ok) return { type, event: parsed.event };
  const id = typeof subject === 'object' && subject !== null && 'id' in subject ? subject.id : undefined;
  const known = typeof id === 'string' ? asEventId(id) : undefined;
  if (known === undefined) return badMessage(parsed.detail);
  return { type: 'bad_event', id: known, refusal: invalid(parsed.detail) };
}

function readRequest(
  type: 'req' | 'count', id: unknown, values: readonly unknown[],
  tooLong: RelayRefusal | undefined, limits: RelayLimits,
): ClientMessage {
  if (!isSubscriptionId(id, limits)) return badSubscriptionId(limits);
  if (tooLong !== undefined) return { type: 'bad_subscription', id, refusal: tooLong };
  if (values.length === 0 || values.length > limits.maxFilters) {
    const refusal = invalid(`filters: expected 1 to ${limits.maxFilters}, found ${values.length}`);
    return { type: 'bad_subscription', id, refusal };
  }
  const queries: Query[] = [];
  for (const value of values) {
    const read = readQuery(value);
    if (!read.ok) return { type: 'bad_subscription', id, refusal: invalid(read.detail) };
    queries.push(read.query);
  }
  return { type, id, queries };
}

/** NIP-AP "Access control: kind:44300 author-only": a `before_id` that cannot be honoured is rejected, not ignored. */
function readQuery(value: unknown): { readonly ok: true; readonly query: Query } | RelayRefusal {
  if (typeof value !== 'object' || value === null || !('before_id' in value)) {
    const parsed = parseFilter(value);
    return parsed.ok ? { ok: true, query: { filter: parsed.filter } } : invalid(parsed.detail);
  }
  const { before_id: cursor, ...members } = value;
  const parsed = parseFilter(members);
  if (!parsed.ok) return invalid(parsed.detail);
  const beforeId = typeof cursor === 'string' ? asEventId(cursor) : undefined;
  if (beforeId === undefined) return invalid('before_id: expected 64 lowercase hex characters');
  if (parsed.filter.until === undefined) return invalid('before_id: expected an until beside it');
  return { ok: true, query: { filter: parsed.filter, beforeId } };
}

function isSubscriptionId(value: unknown, limits: RelayLimits): value is string {
  return typeof value === 'string' && value !== '' && value.length <= limits.maxSubscriptionIdLength;
}

function badSubscriptionId(limits: RelayLimits): ClientMessage {
  return badMessage(`subscription id: expected 1 to ${limits.maxSubscriptionIdLength} characters`);
}

function badMessage(detail: string): ClientMessage {
  return { type: 'bad_message', refusal: invalid(detail) };
}

function invalid(detail: string): RelayRefusal {
  return refuse('invalid', detail);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function describe(value: unknown): string {
  return typeof value === 'string' ? `"${excerpt(value, 24)}"` : typeof value;
}
