/**
 * Cursors of `channel.read` (NIP-BA "Channel and messages"): a place in the newest-first order, sealed together with
 * the principal, the community and the filters it belongs to. Opaque to clients; 108 characters.
 *
 * Bytes before base64url: version, issued at (u64 ms Unix), event time (u64 s), event id (32), HMAC-SHA256 (32). The
 * key is the principal's own and the time is the system's, so that a cursor outlives the broker that made it.
 */
import { timingSafeEqual } from 'node:crypto';
import { asEventId, milliseconds } from '../../model/index.ts';
import type { ChannelId, Clock, EventId, Pubkey } from '../../model/index.ts';
import type { Keyring } from '../keyring.ts';

/** The newest-first order: later seconds first, in one second the lower id first (NIP-01). */
export interface Position {
  readonly createdAtSec: number;
  readonly id: EventId;
}

/** What a cursor is bound to. */
export interface Traversal {
  readonly principal: Pubkey;
  readonly community: string;
  readonly channelId: ChannelId;
  readonly rootEventId?: EventId;
  readonly mentionsOnly: boolean;
}

export interface Cursors {
  seal(position: Position, traversal: Traversal): string;
  /** Undefined for a cursor that is not ours, too old, or of another traversal. */
  open(cursor: string, traversal: Traversal): Position | undefined;
}

export const CURSOR_LIFETIME_MS = 3_600_000;

const VERSION = 1;
const BODY_BYTES = 1 + 8 + 8 + 32;
const SEAL_BYTES = 32;

export interface CursorsOptions {
  /** For stamps: a cursor outlives the program. */
  readonly clock: Clock;
  readonly keyring: Pick<Keyring, 'mark'>;
}

export function openCursors({ clock, keyring }: CursorsOptions): Cursors {
  function sealOf(body: Uint8Array, traversal: Traversal): Uint8Array {
    const { principal, community, channelId, rootEventId = '', mentionsOnly } = traversal;
    // JSON keeps the parts apart, so that no two traversals are the same text.
    const bound = JSON.stringify([principal, community, channelId, rootEventId, mentionsOnly]);
    return keyring.mark(principal, Buffer.concat([body, Buffer.from(bound)]));
  }

  return {
    seal({ createdAtSec, id }, traversal) {
      const body = Buffer.alloc(BODY_BYTES);
      body.writeUInt8(VERSION, 0);
      body.writeBigUInt64BE(BigInt(clock.now()), 1);
      body.writeBigUInt64BE(BigInt(createdAtSec), 9);
      body.write(id, 17, 'hex');
      return Buffer.concat([body, sealOf(body, traversal)]).toString('base64url');
    },
    open(cursor, traversal) {
      const bytes = Buffer.from(cursor, 'base64url');
      // Decoding skips what is no base64url; a cursor is taken only as it was written.
      if (bytes.length !== BODY_BYTES + SEAL_BYTES || bytes.toString('base64url') !== cursor) return undefined;
      const body = bytes.subarray(0, BODY_BYTES);
      if (!timingSafeEqual(bytes.subarray(BODY_BYTES), sealOf(body, traversal))) return undefined;
      const issuedAtMs = milliseconds(Number(body.readBigUInt64BE(1)));
      // A clock that was set back must not give it life without end.
      if (body.readUInt8(0) !== VERSION || Math.abs(clock.now() - issuedAtMs) > CURSOR_LIFETIME_MS) return undefined;
      const id = asEventId(body.subarray(17).toString('hex'));
      return id === undefined ? undefined : { createdAtSec: Number(body.readBigUInt64BE(9)), id };
    },
  };
}
