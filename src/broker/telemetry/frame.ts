/**
 * One observer frame as text (NIP-AO "Decrypted Payload", telemetry): the members in the order Buzz writes them, what is
 * not known as null. The payload is passed on to the byte: a JSON object as it stands, any other text as a string.
 */
import type { ChannelId, Milliseconds } from '../../model/index.ts';
import { jsonMembers } from '../../nostr/index.ts';

export interface Frame {
  /** The runtime's own word for what it tells. Gives the frame no authority: whoever has a session chooses it. */
  readonly kind: string;
  readonly payload: string;
  /** The turn the frame was told in, where there is one. */
  readonly turn?: { readonly channelId: ChannelId; readonly turnId: string };
}

/**
 * Bytes of a frame's text. NIP-AO allows 65,535; some NIP-44 readers refuse what is padded beyond 65,536 bytes together
 * with its length, and 65,408 is what all of them take. A longer frame is not sent.
 */
export const MAX_FRAME_BYTES = 65_408;

/** `seq` is a whole number; the time is the frame's, not that of its publication. */
export function frameText({ kind, payload, turn }: Frame, seq: number, at: Milliseconds): string {
  const head = {
    seq,
    timestamp: new Date(at).toISOString(),
    kind,
    agentIndex: null,
    channelId: turn?.channelId ?? null,
    // The ACP session's own id is not known to the broker.
    sessionId: null,
    turnId: turn?.turnId ?? null,
  };
  const raw = jsonMembers(payload) === undefined ? JSON.stringify(payload) : payload;
  return `${JSON.stringify(head).slice(0, -1)},"payload":${raw}}`;
}

/** The size of the frame with the longest `seq` there is, so that it does not depend on when it is sent. */
export function frameBytes(frame: Frame, at: Milliseconds): number {
  return Buffer.byteLength(frameText(frame, Number.MAX_SAFE_INTEGER, at), 'utf8');
}
