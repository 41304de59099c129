/**
 * What an agent's owner orders (NIP-AO "Control"): kind 24200 events on a subscription of their own, checked, opened,
 * remembered on disk and then handed to the one consumer, each once. Whatever is not the owner's word is counted and
 * dropped; how many are opened in a second is bounded for the owner, too.
 * Never: logs what a frame says; answers one.
 */
import { seconds, secondsOf } from '../../model/index.ts';
import type { Clock, Log, Milliseconds, Refusal } from '../../model/index.ts';
import type { Filter, Opening, VerifiedEvent } from '../../nostr/index.ts';
import type { Store } from '../../store/index.ts';
import type { ControlConsumer, ControlCounts } from '../owner-ports.ts';
import type { Upstream } from '../upstream/index.ts';
import { FRESH_SEC, frameFault, readFrameBody } from './frame.ts';
import type { FrameFault, Parties } from './frame.ts';
import { TakenFrames } from './taken.ts';

export interface Controls {
  /** Starts to listen. One consumer; a second call throws. What it throws is a bug and is logged. */
  follow(consumer: ControlConsumer): void;
  counts(): ControlCounts;
  /** Hands over nothing any more. */
  close(): void;
}

export interface ControlsOptions extends Parties {
  readonly upstream: Pick<Upstream, 'subscribe'>;
  /** Opens what the owner has sealed to the agent. */
  readonly open: (payload: string) => Opening | Refusal<'peer'>;
  readonly store: Pick<Store, 'read' | 'write'>;
  /** For stamps. */
  readonly clock: Clock;
  /** For the pace. */
  readonly steadyClock: Clock;
  readonly log: Log;
}

/** NIP-AO. */
const FRAME_KIND = 24_200;
/** Buzz's own id. */
const SUBSCRIPTION = 'agent-observer-control';
/** Frames opened at once, and then in a second: no person's clients order more, and each id is kept ten minutes. */
const MAX_AT_ONCE = 200;
const MAX_PER_SEC = 20;

export function openControls(options: ControlsOptions): Controls {
  const { agent, owner, upstream, open, store, clock, steadyClock, log } = options;
  const budget = openBudget(steadyClock);
  const counts = { taken: 0, ignored: 0 };
  let consumer: ControlConsumer | undefined;
  let closed = false;
  const now = (): ReturnType<typeof secondsOf> => secondsOf(clock.now());

  function ignore(event: VerifiedEvent, fault: FrameFault): void {
    counts.ignored += 1;
    log.debug('a control frame is not taken', { agent, eventId: event.id, fault });
  }

  function take(event: VerifiedEvent, taken: TakenFrames): void {
    if (closed) return;
    const receivedAt = now();
    const fault = frameFault(event, { agent, owner }, receivedAt);
    if (fault !== undefined) return ignore(event, fault);
    if (taken.has(event.id)) return ignore(event, 'replayed');
    if (!budget()) return ignore(event, 'too_many');
    const opened = open(event.content);
    if (!opened.ok) return ignore(event, 'sealed');
    const read = readFrameBody(opened.plaintext);
    if (!read.ok) return ignore(event, read.code);
    const { id: eventId, pubkey: sender, created_at: createdAt } = event;
    taken.keep(eventId, createdAt, receivedAt).then(() => {
      if (closed) return;
      counts.taken += 1;
      consumer?.({ eventId, sender, agent, createdAt, receivedAt, type: read.type, body: read.body });
    }).catch((error: unknown) => {
      // What a restart would not remember might be done twice: it is not done at all.
      ignore(event, 'not_kept');
      log.error('a control frame could not be taken', { agent, eventId, error });
    });
  }

  function filters(): readonly Filter[] {
    // NIP-AO "Client Behavior". Alone: a p-gated kind is not mixed with others.
    return [{ kinds: [FRAME_KIND], tags: new Map([['p', [agent]]]), since: seconds(Math.max(0, now() - FRESH_SEC)) }];
  }

  return {
    follow(one) {
      if (consumer !== undefined) throw new TypeError('control frames have one consumer');
      consumer = one;
      TakenFrames.load(store, agent, now()).then((taken) => {
        if (closed) return;
        upstream.subscribe({ id: SUBSCRIPTION, filters, urgent: true, onEvent: (event) => { take(event, taken); } });
      }).catch((error: unknown) => {
        log.error('control frames: what was taken before could not be read; none is taken', { agent, error });
      });
    },
    counts: () => ({ ...counts }),
    close() {
      closed = true;
    },
  };
}

/** True where one more may be opened now. */
function openBudget(clock: Clock): () => boolean {
  let left = MAX_AT_ONCE;
  let at: Milliseconds = clock.now();
  return () => {
    const now = clock.now();
    left = Math.min(MAX_AT_ONCE, left + ((now - at) / 1000) * MAX_PER_SEC);
    at = now;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}
