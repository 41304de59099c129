/**
 * Telemetry of one agent on its way to the owner: a bounded queue, one pace, best effort. What skep tells goes in at
 * once; for what an agent emits, room is reserved first and taken when its receipt is durable.
 * Every frame takes its number when it is told, sent or not: the owner sees what is missing (NIP-AO `seq`).
 */
import { excerpt, later, within } from '../../model/index.ts';
import type { Clock, Log, Milliseconds, Pubkey, Refusal } from '../../model/index.ts';
import type { Sealing } from '../../nostr/index.ts';
import type { EventDraft } from '../draft.ts';
import type { ObserverFrame, TelemetryStatus } from '../owner-ports.ts';
import type { Publisher } from '../publish.ts';
import { frameBytes, frameText, MAX_FRAME_BYTES, seqSlack } from './frame.ts';
import { packed } from './pack.ts';
import { FrameQueue } from './queue.ts';
import type { Waiting } from './queue.ts';
import { openSequence } from './sequence.ts';

export interface Telemetry {
  /** Takes a frame in. Never throws, never waits; what does not fit leaves a gap in `seq`. */
  tell(frame: ObserverFrame): void;
  /** A frame as a draft, for whoever publishes it by itself; undefined when it is too long. */
  draft(frame: ObserverFrame): EventDraft | undefined;
  /** Room for those of the frames that fit; nothing is sent before it is taken. */
  reserve(frames: readonly ObserverFrame[]): Room;
  status(): TelemetryStatus;
  /** From here on one frame a second, which carries what waits of one channel. */
  pack(): void;
  /** Takes nothing in any more; what waits is sent for `graceMs` at most, 1.5 s while the connection is away, and then dropped. Twice cuts that short. */
  close(graceMs: number): Promise<void>;
}

/** Taken or given back, once. */
export interface Room {
  readonly accepted: number;
  take(): void;
  giveBack(): void;
}

export interface TelemetryOptions {
  readonly pubkey: Pubkey;
  readonly owner: Pubkey;
  readonly seal: (plaintext: string) => Sealing | Refusal<'peer'>;
  readonly publisher: Pick<Publisher, 'compose' | 'publish'>;
  /** Whether the connection is there: without it frames wait, as long as there is room. */
  readonly ready: () => boolean;
  /** For stamps. */
  readonly clock: Clock;
  /** For the pace. */
  readonly steadyClock: Clock;
  readonly log: Log;
}

/** NIP-AO. */
const FRAME_KIND = 24_200;
/** Frames that wait and their bytes: for a burst, and for a relay that is away for a while. */
export const MAX_WAITING_FRAMES = 1_024;
export const MAX_WAITING_BYTES = 4_194_304;
/** What a frame takes beside its payload, its ids and its kind, at most. */
const FRAME_OVERHEAD_BYTES = 256;
/** Between two frames: half of the 100 a second that a relay takes of an agent (NIP-AO), and room for its other signals. */
const PACE_MS = 20;
/** The same of frames that carry several, as Buzz's relays bill them; and how many each may be expected to carry. */
const PACKED_PACE_MS = 1_000;
const FRAMES_IN_PACK = 100;
/**
 * Frames without an answer; a permission frame does not wait for the answers to others. The connection keeps 256
 * ephemeral events and drops the oldest beyond.
 */
const MAX_UNANSWERED = 32;
const MAX_UNANSWERED_URGENT = 64;
/** How often a connection that is away is looked for again. */
const AWAY_MS = 1_000;
/** How long the end waits for a connection that is away: one more look, and time to send. Then what waits is dropped. */
const AWAY_GRACE_MS = 1_500;

export function openTelemetry(options: TelemetryOptions): Telemetry {
  const { pubkey, owner, seal, publisher, ready, clock, steadyClock, log } = options;
  const queue = new FrameQueue({ maxFrames: MAX_WAITING_FRAMES, maxBytes: MAX_WAITING_BYTES });
  const sequence = openSequence();
  const reserved = { frames: 0, bytes: 0 };
  const count = { sent: 0, tooLong: 0, refused: 0, lost: 0 };
  let unanswered = 0;
  let notBefore: Milliseconds = steadyClock.now();
  let cancel: (() => void) | undefined;
  let isPacking = false;
  let closed = false;
  let drained: (() => void) | undefined;

  function numbered(frame: ObserverFrame, at: Milliseconds): Waiting {
    const lane = sequence.lane(frame.sessionId);
    return { frame, lane, seq: sequence.next(lane), at, bytes: roughBytes(frame) };
  }

  function textOf({ frame, seq, at }: Waiting): string | undefined {
    const text = frameText(frame, seq, at);
    return Buffer.byteLength(text, 'utf8') + seqSlack(seq) > MAX_FRAME_BYTES ? tooLong(frame) : text;
  }

  function draftOf(text: string | undefined): EventDraft | undefined {
    if (text === undefined) return undefined;
    const sealing = seal(text);
    if (!sealing.ok) {
      count.lost += 1;
      return undefined;
    }
    const tags = [['p', owner], ['agent', pubkey], ['frame', 'telemetry']];
    return { kind: FRAME_KIND, tags, content: sealing.payload };
  }

  /** What it holds is not for a log, at whatever level. */
  function tooLong({ kind, payload }: ObserverFrame): undefined {
    count.tooLong += 1;
    log.debug('telemetry: a frame is too long and was not sent', { agent: pubkey, kind: excerpt(kind), payloadCharacters: payload.length });
  }

  function pump(): void {
    if (queue.size === 0 && unanswered === 0) drained?.();
    if (cancel !== undefined || queue.size === 0) return;
    if (unanswered >= (queue.isUrgent ? MAX_UNANSWERED_URGENT : MAX_UNANSWERED)) return;
    const now = steadyClock.now();
    const at = ready() ? notBefore : later(now, AWAY_MS);
    cancel = steadyClock.wake(at > now ? at : now, () => {
      cancel = undefined;
      if (ready()) sendNext();
      pump();
    });
  }

  function nextText(): string | undefined {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const text = textOf(next);
      if (text !== undefined) return isPacking ? packed(next, text, queue) : text;
    }
    return undefined;
  }

  function paceMs(): number {
    return isPacking ? PACKED_PACE_MS : PACE_MS;
  }

  function sendNext(): void {
    const draft = draftOf(nextText());
    if (draft === undefined) return;
    notBefore = later(steadyClock.now(), paceMs());
    unanswered += 1;
    void publisher.publish(publisher.compose(draft)).then((outcome) => {
      unanswered -= 1;
      if (outcome.status === 'rejected') refused(outcome.reason);
      else count.sent += 1;
      pump();
    });
  }

  /** One line for each row of refusals, however long it is. */
  function refused(reason: string): void {
    count.refused += 1;
    if (count.refused === 1) log.warn('telemetry: the relay refuses frames for the owner', { reason });
  }

  return {
    tell(frame) {
      const waiting = numbered(frame, clock.now());
      if (closed) count.lost += 1;
      else if (waiting.bytes - FRAME_OVERHEAD_BYTES > MAX_FRAME_BYTES) tooLong(frame);
      else {
        queue.push(waiting);
        pump();
      }
    },
    draft: (frame) => draftOf(textOf(numbered(frame, clock.now()))),
    reserve(frames) {
      const at = clock.now();
      const sizes = frames.map(admitted);
      const mine = sizes.filter((size) => size !== undefined);
      let open = true;
      const giveBack = (): void => {
        if (!open) return;
        open = false;
        reserved.frames -= mine.length;
        reserved.bytes -= mine.reduce((sum, size) => sum + size, 0);
      };
      return {
        accepted: mine.length,
        giveBack,
        take() {
          if (!open) return;
          giveBack();
          for (const [index, frame] of frames.entries()) {
            const waiting = numbered(frame, at);
            if (sizes[index] !== undefined && !closed) queue.push(waiting);
          }
          pump();
        },
      };
    },
    status: () => ({
      sent: count.sent, waiting: queue.size, dropped: queue.dropped + count.lost, tooLong: count.tooLong, refused: count.refused,
    }),
    pack() {
      isPacking = true;
      notBefore = later(steadyClock.now(), PACKED_PACE_MS);
    },
    async close(graceMs) {
      if (closed) return drained?.();
      closed = true;
      // In the grace there is time for so many; those that tell how turns ended are among them.
      queue.shrink(Math.floor(graceMs / paceMs()) * (isPacking ? FRAMES_IN_PACK : 1));
      if (queue.size > 0 || unanswered > 0) {
        const emptied = new Promise<void>((resolve) => {
          drained = resolve;
        });
        const firstMs = ready() ? graceMs : Math.min(graceMs, AWAY_GRACE_MS);
        await within(steadyClock, firstMs, emptied);
        // A connection that came back meanwhile has the rest; one that is away would take the whole grace for nothing.
        if (firstMs < graceMs && ready()) await within(steadyClock, graceMs - firstMs, emptied);
      }
      cancel?.();
      queue.clear();
      const { dropped } = queue;
      if (dropped + count.lost + count.tooLong + count.refused > 0) {
        log.info('telemetry: frames that did not reach the relay', { dropped: dropped + count.lost, tooLong: count.tooLong, refused: count.refused });
      }
    },
  };

  /** The size, with its room held; undefined where there is none. */
  function admitted(frame: ObserverFrame): number | undefined {
    const bytes = roughBytes(frame);
    const hasRoom = reserved.frames + queue.size < MAX_WAITING_FRAMES && reserved.bytes + queue.bytes + bytes <= MAX_WAITING_BYTES;
    if (closed || !hasRoom || frameBytes(frame) > MAX_FRAME_BYTES) return undefined;
    reserved.frames += 1;
    reserved.bytes += bytes;
    return bytes;
  }
}

/** Near enough for what is held in memory, and cheap: the frame's text is made when it is sent. */
function roughBytes({ payload, kind, sessionId = '', turnId = '' }: ObserverFrame): number {
  return Buffer.byteLength(payload, 'utf8') + kind.length + sessionId.length + turnId.length + FRAME_OVERHEAD_BYTES;
}
