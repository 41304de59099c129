/**
 * Outside data as a turn input, version 1. Closed: an unknown member, a null, a wrong type or a bound passed is
 * refused with its path. "Turn input v1".
 * in: an unknown value, or JSON text. out: a fresh `TurnInput`, or a refusal.
 * Never: checks an event's id or signature (a caller must, before it compiles), or changes a string.
 */
import { lineOfPath, parseJsonText } from './json-text.ts';
import { attempt } from './refusal.ts';
import type { TurnRefusal } from './refusal.ts';
import { arrayOf, closed, flag, mapOf, oneOf, optional, text, textWhere, whole } from './shape.ts';
import { isBlank } from './text.ts';
import type { OperatorTurnInput } from './operator.ts';
import type {
  Channel, History, HistoryMessage, Interrupted, Profile, Standing, TriggeredEvent, TurnEvent, TurnInput,
} from './turn.ts';

// Fifty is the most that one prompt carries; a queue with more makes several turns of it.
const MAX_EVENTS = 50;
// NIP-01 kinds are 16 bits wide.
const MAX_KIND = 65_535;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const HEX_64 = /^[0-9a-f]{64}$/;
const HEX_128 = /^[0-9a-f]{128}$/;
const HEX_64_EXPECTED = '64 lowercase hex characters';

export const hex64 = textWhere((value) => HEX_64.test(value), HEX_64_EXPECTED);
export const uuid = textWhere((value) => UUID.test(value), 'a lowercase hyphenated UUID');
const seconds = whole(Number.MAX_SAFE_INTEGER, 'whole seconds since 1970');

export const turnEvent = closed<TurnEvent>({
  id: hex64,
  pubkey: hex64,
  created_at: seconds,
  kind: whole(MAX_KIND, `an integer from 0 to ${String(MAX_KIND)}`),
  tags: arrayOf(arrayOf(text, 'an array of strings'), 'an array of tags'),
  content: text,
  sig: textWhere((value) => HEX_128.test(value), '128 lowercase hex characters'),
});

const triggered = arrayOf(
  closed<TriggeredEvent>({ event: turnEvent, rule: text }),
  `an array of 1 to ${String(MAX_EVENTS)} events`,
  1,
  MAX_EVENTS,
);

const channel = closed<Channel>({
  name: text,
  type: textWhere((value) => !isBlank(value), 'a channel type, such as "stream"'),
  description: optional(text),
});

const interrupted = closed<Interrupted>({ mode: oneOf('steer', 'interrupt'), events: triggered });

const history = closed<History>({
  scope: oneOf('thread', 'dm'),
  messages: arrayOf(
    closed<HistoryMessage>({ eventId: hex64, pubkey: hex64, timestamp: seconds, content: text }),
    'an array of messages',
  ),
  total: whole(Number.MAX_SAFE_INTEGER, 'a count of messages'),
  truncated: flag,
});

const profile = closed<Profile>({ displayName: optional(text), nip05: optional(text), isAgent: optional(flag) });

const standing = closed<Standing>({
  workspace: optional(text),
  base: optional(text),
  system: optional(text),
  teamInstructions: optional(text),
  coreMemory: optional(text),
  huddleInstructions: optional(text),
  channelCanvas: optional(text),
});

export const turnInput = closed<TurnInput>({
  v: oneOf(1),
  channelId: uuid,
  channel: optional(channel),
  events: triggered,
  interrupted: optional(interrupted),
  history: optional(history),
  historyDelivered: optional(flag),
  // Looked up by the lowercase pubkey, so a name in upper case could never be found.
  profiles: optional(mapOf((name) => HEX_64.test(name), HEX_64_EXPECTED, profile)),
  standing: optional(standing),
  standingRole: oneOf('system', 'prompt', 'sent'),
});

/** An operator turn; see `OperatorTurnInput`. */
export const operatorTurn = closed<OperatorTurnInput>({
  v: oneOf(1),
  source: oneOf('heartbeat', 'initial'),
  prompt: textWhere((value) => !isBlank(value), 'a text that is not blank'),
  standing: optional(standing),
  standingRole: oneOf('system', 'prompt', 'sent'),
});

export type TurnParsed = { readonly ok: true; readonly input: TurnInput } | TurnRefusal;

/** `value` as a turn input. The result shares nothing with `value`. */
export function parseTurnInput(value: unknown): TurnParsed {
  return attempt(() => ({ ok: true, input: turnInput(value, '') }));
}

/**
 * `source` as a turn input: one JSON value, a byte order mark before it allowed. Refuses what is no JSON, a member
 * given twice, and nesting deeper than 32; then as `parseTurnInput`. Every refusal has its line.
 */
export function parseTurnText(source: string): TurnParsed {
  const json = parseJsonText(source);
  if (!json.ok) return json;
  const parsed = parseTurnInput(json.value);
  return parsed.ok ? parsed : { ...parsed, line: lineOfPath(source, parsed.path) };
}
