/**
 * One observer frame as text (NIP-AO "Decrypted Payload", telemetry): the members in the order Buzz writes them, what is
 * not known as null. The payload is passed on to the byte: a JSON object as it stands, any other text as a string.
 */
import { milliseconds } from '../../model/index.ts';
import type { Milliseconds } from '../../model/index.ts';
import type { FrameAuthorization, ObserverFrame } from '../owner-ports.ts';

/**
 * Bytes of a frame's text. NIP-AO allows 65,535; some NIP-44 readers refuse what is padded beyond 65,536 bytes together
 * with its length, and 65,408 is what all of them take. A longer frame is not sent.
 */
export const MAX_FRAME_BYTES = 65_408;

const MAX_SEQ_DIGITS = String(Number.MAX_SAFE_INTEGER).length;
/** Any stamp is as long as any other until the year 10000. */
const SOME_TIME = milliseconds(0);

/** `seq` is a whole number; the time is the frame's, not that of its publication. */
export function frameText(frame: ObserverFrame, seq: number, at: Milliseconds): string {
  const { kind, payload, agentIndex, channelId, sessionId, turnId, authorization } = frame;
  const head = {
    seq,
    timestamp: new Date(at).toISOString(),
    kind,
    agentIndex: agentIndex ?? null,
    channelId: channelId ?? null,
    sessionId: sessionId ?? null,
    turnId: turnId ?? null,
    ...(authorization && { authorization: envelope(authorization) }),
  };
  const raw = isJsonObject(payload) ? payload : JSON.stringify(payload);
  return `${JSON.stringify(head).slice(0, -1)},"payload":${raw}}`;
}

/** The size of the frame with the longest `seq` there is, so that it does not depend on when it is sent. */
export function frameBytes(frame: ObserverFrame): number {
  return Buffer.byteLength(frameText(frame, Number.MAX_SAFE_INTEGER, SOME_TIME), 'utf8');
}

/** How much longer a frame could be, had it the longest `seq`: so that what was said to fit beforehand does. */
export function seqSlack(seq: number): number {
  return MAX_SEQ_DIGITS - String(seq).length;
}

/** NIP-AO "Authorization Envelope"; `expiresAt` is Buzz's own, and stands last. */
function envelope({ requestNonce, actionable, reason, expiresAt }: FrameAuthorization): object {
  return { requestNonce, actionable, ...(reason !== undefined && { reason }), ...(expiresAt !== undefined && { expiresAt }) };
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
