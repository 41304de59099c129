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

/**
 * A filter with what goes beyond NIP-01: for paging, the id that the previous page ended on (NIP-AP "Current version and
 * history"), and words that must occur (NIP-50).
 */
export interface Query {
  readonly filter: Filter;
  readonly beforeId?: EventId;
  readonly search?: string;
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
  const read = readQueries(values, limits);
  return read.ok ? { type, id, queries: read.queries } : { type: 'bad_subscription', id, refusal: read };
}

/** The filters of one question, over WebSocket or HTTP. */
export function readQueries(
  values: readonly unknown[], limits: RelayLimits,
): { readonly ok: true; readonly queries: readonly Query[] } | RelayRefusal {
  if (values.length === 0 || values.length > limits.maxFilters) {
    return invalid(`filters: expected 1 to ${limits.maxFilters}, found ${values.length}`);
  }
  const queries: Query[] = [];
  for (const value of values) {
    const read = readQuery(value, limits);
    if (!read.ok) return read;
    queries.push(read.query);
  }
  return { ok: true, queries };
}

type QueryReading = { readonly ok: true; readonly query: Query } | RelayRefusal;

/** NIP-AP "Access control: kind:44300 author-only": a `before_id` that cannot be honoured is rejected, not ignored. */
function readQuery(value: unknown, limits: RelayLimits): QueryReading {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return readFilter(value);
  const { before_id: cursor, search, ...members }: Readonly<Record<string, unknown>> = { ...value };
  const read = readFilter(members);
  if (!read.ok) return read;
  if (cursor !== undefined && read.query.filter.until === undefined) return invalid('before_id: expected an until beside it');
  const beforeId = typeof cursor === 'string' ? asEventId(cursor.toLowerCase()) : undefined;
  if (cursor !== undefined && beforeId === undefined) return invalid('before_id: expected 64 hex characters');
  if (search !== undefined && (typeof search !== 'string' || search.length > limits.maxSearchLength)) {
    return invalid(`search: expected at most ${limits.maxSearchLength} characters`);
  }
  return { ok: true, query: { ...read.query, ...(beforeId && { beforeId }), ...(search !== undefined && { search }) } };
}

function readFilter(value: unknown): QueryReading {
  const parsed = parseFilter(value);
  return parsed.ok ? { ok: true, query: { filter: parsed.filter } } : invalid(parsed.detail);
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
