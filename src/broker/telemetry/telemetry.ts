/**
 * Telemetry of one agent on its way to the owner: a bounded queue, one pace, best effort. Room is reserved first and
 * taken when the caller's result is durable, so that what is accepted is a promise of intake and of nothing more.
 * Every frame that was asked for takes its number, sent or not: the owner sees what is missing (NIP-AO `seq`).
 */
import { later, within } from '../../model/index.ts';
import type { Clock, Log, Milliseconds, Pubkey, Refusal } from '../../model/index.ts';
import type { Sealing } from '../../nostr/index.ts';
import type { EventDraft } from '../draft.ts';
import type { Publisher } from '../publish.ts';
import { frameBytes, frameText, MAX_FRAME_BYTES } from './frame.ts';
import type { Frame } from './frame.ts';

export interface Telemetry {
  /** A frame as a draft, for whoever publishes it by itself; undefined when it is too long. */
  draft(frame: Frame): EventDraft | undefined;
  /** Room for those of the frames that fit; nothing is sent before it is taken. */
  reserve(frames: readonly Frame[]): Room;
  /** Takes nothing in any more; what waits is sent for `graceMs` at most, and then dropped. */
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
/** Frames that wait, reserved ones among them, and their bytes: for a relay that is away for a while. */
export const MAX_WAITING_FRAMES = 1_024;
export const MAX_WAITING_BYTES = 4_194_304;
/** Between two frames: half of the 100 a second that a relay takes of an agent, and room for its other signals. */
const PACE_MS = 20;
/** Frames without an answer. The connection keeps 256 ephemeral events and drops the oldest beyond. */
const MAX_UNANSWERED = 32;
/** How often a connection that is away is looked for again. */
const AWAY_MS = 1_000;

export function openTelemetry(options: TelemetryOptions): Telemetry {
  const { pubkey, owner, seal, publisher, ready, clock, steadyClock, log } = options;
  const waiting: string[] = [];
  const held = { frames: 0, bytes: 0 };
  let seq = 0;
  let unanswered = 0;
  let lost = 0;
  let notBefore: Milliseconds = steadyClock.now();
  let cancel: (() => void) | undefined;
  let closed = false;
  let drained: (() => void) | undefined;

  function draftOf(text: string): EventDraft | undefined {
    const sealing = seal(text);
    if (!sealing.ok) return undefined;
    const tags = [['p', owner], ['agent', pubkey], ['frame', 'telemetry']];
    return { kind: FRAME_KIND, tags, content: sealing.payload };
  }

  function pump(): void {
    if (waiting.length === 0 && unanswered === 0) drained?.();
    if (cancel !== undefined || waiting.length === 0 || unanswered >= MAX_UNANSWERED) return;
    const now = steadyClock.now();
    const at = ready() ? notBefore : later(now, AWAY_MS);
    cancel = steadyClock.wake(at > now ? at : now, () => {
      cancel = undefined;
      if (ready()) sendNext();
      pump();
    });
  }

  function sendNext(): void {
    const text = waiting.shift();
    if (text === undefined) return;
    held.frames -= 1;
    held.bytes -= Buffer.byteLength(text, 'utf8');
    const draft = draftOf(text);
    if (draft === undefined) return;
    notBefore = later(steadyClock.now(), PACE_MS);
    unanswered += 1;
    void publisher.publish(publisher.compose(draft)).then((outcome) => {
      unanswered -= 1;
      if (outcome.status === 'rejected') drop(outcome.reason);
      pump();
    });
  }

  /** One line for each row of refusals, however long it is. */
  function drop(reason: string): void {
    lost += 1;
    if (lost === 1) log.warn('telemetry: the relay refuses frames for the owner', { reason });
  }

  return {
    draft(frame) {
      seq += 1;
      const at = clock.now();
      return frameBytes(frame, at) > MAX_FRAME_BYTES ? undefined : draftOf(frameText(frame, seq, at));
    },
    reserve(frames) {
      const at = clock.now();
      const sizes = frames.map((frame) => admitted(frameBytes(frame, at)));
      const mine = sizes.filter((size) => size !== undefined);
      let open = true;
      const giveBack = (): void => {
        if (!open) return;
        open = false;
        held.frames -= mine.length;
        held.bytes -= mine.reduce((sum, size) => sum + size, 0);
      };
      return {
        accepted: mine.length,
        giveBack,
        take() {
          if (!open) return;
          giveBack();
          for (const [index, frame] of frames.entries()) {
            seq += 1;
            if (sizes[index] === undefined || closed) continue;
            const text = frameText(frame, seq, at);
            held.frames += 1;
            held.bytes += Buffer.byteLength(text, 'utf8');
            waiting.push(text);
          }
          pump();
        },
      };
    },
    async close(graceMs) {
      closed = true;
      if (waiting.length > 0 || unanswered > 0) {
        await within(steadyClock, graceMs, new Promise<void>((resolve) => {
          drained = resolve;
        }));
      }
      cancel?.();
      const dropped = waiting.splice(0).length;
      if (dropped > 0 || lost > 0) log.info('telemetry: frames that did not reach the relay', { dropped, refused: lost });
    },
  };

  /** The size, with its room held; undefined where there is none. */
  function admitted(bytes: number): number | undefined {
    const fits = bytes <= MAX_FRAME_BYTES && held.bytes + bytes <= MAX_WAITING_BYTES;
    if (closed || !fits || held.frames >= MAX_WAITING_FRAMES) return undefined;
    held.frames += 1;
    held.bytes += bytes;
    return bytes;
  }
}
