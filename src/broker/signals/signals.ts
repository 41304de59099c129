/**
 * Presence (kind 20001) and typing (kind 20002) of one agent. A signal is an event of its own each time, never journaled
 * and never waited for; while the connection is away, or the relay has said `rate-limited:`, none is sent: a quota is for
 * messages. Presence is told anew on each connection and every minute, typing every 3 s (Buzz's own pace).
 */
import { later, within } from '../../model/index.ts';
import type { Clock } from '../../model/index.ts';
import { PRESENCE_KIND, replyTags, TYPING_KIND } from '../../nostr/index.ts';
import type { EventDraft } from '../draft.ts';
import type { PublishOutcome } from '../ports.ts';
import type { Publisher } from '../publish.ts';
import type { Upstream } from '../upstream/index.ts';
import type { PresenceStatus, SignalReport, TypingPlace } from './ports.ts';

export interface Signals {
  /** True from now on, and told until another one is. Never throws, never waits. */
  presence(status: PresenceStatus): void;
  /** Tells that the agent is writing there until the function it returns is called; twice is once. */
  typing(place: TypingPlace): () => void;
  report(): SignalReport;
  /** Ends every typing, says `offline` where a presence was told, and waits for the relay's word for 2 s at most. */
  close(graceMs: number): Promise<void>;
}

export interface SignalsOptions {
  readonly publisher: Pick<Publisher, 'compose'>;
  readonly upstream: Pick<Upstream, 'phase' | 'isLimited' | 'watch' | 'publish'>;
  /** For the pace. */
  readonly steadyClock: Clock;
}

const PRESENCE_EVERY_MS = 60_000;
const TYPING_EVERY_MS = 3_000;
/** A signal that could not leave by then is no longer true, or has a successor. */
const SIGNAL_TIMEOUT_MS = 3_000;
/** Buzz gives its own `offline` as long. */
const GOODBYE_MS = 2_000;
/** Places told of at once: with more turns than that the signals alone would use up a relay's quota. */
export const MAX_TYPING = 8;

export function openSignals({ publisher, upstream, steadyClock: clock }: SignalsOptions): Signals {
  const count = { sent: 0, dropped: 0 };
  const typists = new Set<() => void>();
  let wanted: PresenceStatus | undefined;
  let cancelRefresh: (() => void) | undefined;
  let farewell: Promise<unknown> = Promise.resolve();
  let closed = false;

  async function send(draft: EventDraft): Promise<PublishOutcome | undefined> {
    if (upstream.phase() !== 'ready' || upstream.isLimited()) {
      count.dropped += 1;
      return undefined;
    }
    const outcome = await upstream.publish(publisher.compose(draft), { timeoutMs: SIGNAL_TIMEOUT_MS });
    // Many relays answer nothing to what is ephemeral: only a no is one.
    count[outcome.status === 'rejected' ? 'dropped' : 'sent'] += 1;
    return outcome;
  }

  function tellPresence(): void {
    cancelRefresh?.();
    cancelRefresh = undefined;
    if (wanted === undefined || upstream.phase() !== 'ready') return;
    farewell = send({ kind: PRESENCE_KIND, tags: [], content: wanted });
    if (wanted !== 'offline') cancelRefresh = clock.wake(later(clock.now(), PRESENCE_EVERY_MS), tellPresence);
  }

  upstream.watch((phase) => {
    if (phase !== 'ready') cancelRefresh?.();
    else if (wanted !== 'offline' && !closed) tellPresence();
  });

  return {
    presence(status) {
      if (closed || status === wanted || (status === 'offline' && wanted === undefined)) return;
      wanted = status;
      tellPresence();
    },
    typing(place) {
      if (closed || typists.size >= MAX_TYPING) return () => undefined;
      const draft = typingDraft(place);
      let isUnderWay = false;
      let cancel: () => void = () => undefined;
      const stop = (): void => {
        cancel();
        typists.delete(stop);
      };
      const tell = (): void => {
        cancel = clock.wake(later(clock.now(), TYPING_EVERY_MS), tell);
        if (isUnderWay) return;
        isUnderWay = true;
        void send(draft).then(() => { isUnderWay = false; });
      };
      typists.add(stop);
      tell();
      return stop;
    },
    report: () => ({ ...(wanted !== undefined && { presence: wanted }), ...count }),
    async close(graceMs) {
      for (const stop of typists) stop();
      if (wanted !== undefined && wanted !== 'offline') {
        wanted = 'offline';
        tellPresence();
      }
      closed = true;
      cancelRefresh?.();
      await within(clock, Math.min(graceMs, GOODBYE_MS), farewell);
    },
  };
}

/** In a thread it has the tags of an answer there (Buzz). */
function typingDraft({ channelId, thread }: TypingPlace): EventDraft {
  return { kind: TYPING_KIND, tags: [['h', channelId], ...(thread === undefined ? [] : replyTags(thread.root, thread.parent))], content: '' };
}
