/**
 * The decrypted text of a telemetry frame, read (NIP-AO "Decrypted Payload"). A `batch` (one event that carries several,
 * for relays that bill frames) is unpacked; what is malformed in it is left out, the rest is taken.
 *
 * Nothing that an agent wrote is trusted here beyond its type: whoever shows it, escapes it.
 */
import { asChannelId, refuse, seconds } from '../../model/index.ts';
import type { ChannelId, Milliseconds, Refusal, Seconds } from '../../model/index.ts';
import { momentOf } from './moment.ts';

/** NIP-AO "Encryption": a longer text is none. */
export const MAX_TELEMETRY_BYTES = 65_535;

/** NIP-AO "Authorization Envelope". `expiresAt` stands on an actionable challenge alone, and not everywhere. */
export interface Authorization {
  readonly requestNonce: string;
  readonly actionable: boolean;
  readonly reason?: string;
  readonly expiresAt?: Seconds;
}

export interface Telemetry {
  readonly seq: number;
  readonly at: Milliseconds;
  readonly kind: string;
  readonly channelId: ChannelId | null;
  readonly sessionId: string | null;
  readonly turnId: string | null;
  readonly authorization?: Authorization;
  readonly payload: Members;
}

export type Members = Readonly<Record<string, unknown>>;

/** In the order of the frame. */
export function readTelemetry(
  plaintext: string,
): { readonly ok: true; readonly events: readonly Telemetry[] } | Refusal<'telemetry'> {
  if (Buffer.byteLength(plaintext, 'utf8') > MAX_TELEMETRY_BYTES) {
    return refuse('telemetry', `frame: expected at most ${MAX_TELEMETRY_BYTES} bytes`);
  }
  const event = eventIn(parsed(plaintext));
  if (typeof event === 'string') return refuse('telemetry', event);
  if (event.kind !== 'batch') return { ok: true, events: [event] };
  const { events: inner } = event.payload;
  if (!Array.isArray(inner)) return refuse('telemetry', 'payload.events: expected a list');
  const read = inner.map(eventIn).filter((one) => typeof one !== 'string');
  // A batch in a batch says nothing that is known.
  return { ok: true, events: read.filter(({ kind }) => kind !== 'batch') };
}

export function membersOf(value: unknown): Members | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A text is what is wrong. */
function eventIn(value: unknown): Telemetry | string {
  const members = membersOf(value);
  if (members === undefined) return 'frame: expected a JSON object';
  const { seq, timestamp, kind, authorization, payload } = members;
  if (typeof seq !== 'number' || !Number.isSafeInteger(seq) || seq < 0) return 'seq: expected a whole number';
  const at = typeof timestamp === 'string' ? momentOf(timestamp) : undefined;
  if (at === undefined) return 'timestamp: expected a date and time of RFC 3339';
  if (typeof kind !== 'string' || kind === '') return 'kind: expected a word';
  const channel = textOf(members['channelId']);
  const envelope = authorizationIn(authorization);
  return {
    seq, at, kind,
    channelId: channel === undefined ? null : (asChannelId(channel) ?? null),
    sessionId: textOf(members['sessionId']) ?? null,
    turnId: textOf(members['turnId']) ?? null,
    ...(envelope === undefined ? {} : { authorization: envelope }),
    // What is no object (a runtime may tell a plain text) has no members for us.
    payload: membersOf(payload) ?? {},
  };
}

function authorizationIn(value: unknown): Authorization | undefined {
  const members = membersOf(value);
  const nonce = textOf(members?.['requestNonce']) ?? '';
  if (members === undefined || nonce === '') return undefined;
  const reason = textOf(members['reason']);
  const expiresAt = members['expiresAt'];
  return {
    requestNonce: nonce,
    actionable: members['actionable'] === true,
    ...(reason === undefined ? {} : { reason }),
    ...(typeof expiresAt === 'number' && Number.isSafeInteger(expiresAt) && expiresAt >= 0 ? { expiresAt: seconds(expiresAt) } : {}),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
