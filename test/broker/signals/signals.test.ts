/** Presence and typing: told, told again at their pace, and given up where a message would need the room. */
import { describe, expect, it } from 'vitest';
import type { PublishOutcome, UpstreamPhase } from '../../../src/broker/index.ts';
import { MAX_TYPING, openSignals } from '../../../src/broker/signals/index.ts';
import type { Signals } from '../../../src/broker/signals/index.ts';
import { channelId, eventId, secondsOf } from '../../../src/model/index.ts';
import { signEvent } from '../../../src/nostr/index.ts';
import type { VerifiedEvent } from '../../../src/nostr/index.ts';
import { HeldClock } from '../clock.ts';
import { AGENT } from '../people.ts';

const CHANNEL = channelId('11111111-1111-4111-8111-111111111111');
const [ROOT, PARENT] = ['1', '2'].map((digit) => eventId(digit.repeat(64))) as [ReturnType<typeof eventId>, ReturnType<typeof eventId>];

class Bench {
  readonly clock = new HeldClock();
  readonly sent: VerifiedEvent[] = [];
  phase: UpstreamPhase = 'ready';
  limited = false;
  /** How the relay answers; undefined: nothing, until the bounded wait is over. */
  answer: 'accepted' | 'rejected' | undefined = 'accepted';
  readonly signals: Signals;
  #watch: (phase: UpstreamPhase) => void = () => undefined;

  constructor() {
    this.signals = openSignals({
      steadyClock: this.clock,
      publisher: { compose: (draft) => signEvent({ ...draft, created_at: secondsOf(this.clock.now()) }, AGENT.secretKey, new Uint8Array(32)) },
      upstream: {
        phase: () => this.phase,
        isLimited: () => this.limited,
        watch: (listener) => { this.#watch = listener; },
        publish: ({ id: sentId, ...event }, { timeoutMs }) => {
          this.sent.push({ id: sentId, ...event });
          const { answer } = this;
          if (answer === 'accepted') return Promise.resolve({ status: answer, eventId: sentId });
          if (answer === 'rejected') return Promise.resolve({ status: answer, eventId: sentId, reason: 'no' });
          return new Promise<PublishOutcome>((resolve) => {
            this.clock.wake((this.clock.now() + timeoutMs) as ReturnType<HeldClock['now']>, () => { resolve({ status: 'unknown', eventId: sentId, reason: 'late' }); });
          });
        },
      },
    });
  }

  becomes(phase: UpstreamPhase): void {
    this.phase = phase;
    this.#watch(phase);
  }

  async push(ms: number): Promise<void> {
    this.clock.push(ms);
    await new Promise((resolve) => { setImmediate(resolve); });
  }

  get told(): readonly string[] {
    return this.sent.map(({ kind, content }) => `${kind} ${content}`.trim());
  }
}

describe('presence', () => {
  it('is the bare word in an event without tags, said at once, every minute, and when it changes', async () => {
    const at = new Bench();
    at.signals.presence('online');
    at.signals.presence('online');
    expect(at.sent).toMatchObject([{ kind: 20_001, content: 'online', tags: [], pubkey: AGENT.pubkey }]);
    await at.push(59_999);
    expect(at.sent.length).toBe(1);
    await at.push(1);
    at.signals.presence('away');
    await at.push(59_999);
    expect(at.told).toEqual(['20001 online', '20001 online', '20001 away']);
    await at.push(1);
    expect(at.told.at(-1)).toBe('20001 away');
    expect(at.signals.report()).toEqual({ presence: 'away', sent: 4, dropped: 0 });
  });

  it('waits for the connection, and is said anew on each', async () => {
    const at = new Bench();
    at.becomes('connecting');
    at.signals.presence('online');
    await at.push(600_000);
    expect([at.sent.length, at.clock.alarms]).toEqual([0, 0]);
    at.becomes('ready');
    expect(at.told).toEqual(['20001 online']);
    at.becomes('waiting');
    await at.push(600_000);
    expect([at.sent.length, at.clock.alarms]).toEqual([1, 0]);
    at.becomes('ready');
    expect(at.told).toEqual(['20001 online', '20001 online']);
  });

  it('is not said again once it is offline, nor where none was ever told', async () => {
    const at = new Bench();
    at.signals.presence('offline');
    expect(at.sent).toEqual([]);
    at.signals.presence('online');
    at.signals.presence('offline');
    at.becomes('ready');
    await at.push(600_000);
    expect([at.told, at.clock.alarms]).toEqual([['20001 online', '20001 offline'], 0]);
  });

  it('ends with a goodbye that is waited for, but not for long', async () => {
    const at = new Bench();
    at.signals.presence('online');
    at.answer = undefined;
    let isClosed = false;
    const closed = at.signals.close(30_000).then(() => { isClosed = true; });
    await at.push(1_999);
    expect([at.told, isClosed]).toEqual([['20001 online', '20001 offline'], false]);
    await at.push(1);
    await closed;
    at.signals.presence('online');
    expect(at.sent.length).toBe(2);
  });
});

describe('typing', () => {
  it('is told at once and every 3 s until it is stopped', async () => {
    const at = new Bench();
    const stop = at.signals.typing({ channelId: CHANNEL });
    expect(at.sent).toMatchObject([{ kind: 20_002, content: '', tags: [['h', CHANNEL]] }]);
    for (const ms of [0, 3_000, 3_000]) await at.push(ms);
    expect(at.sent.length).toBe(3);
    stop();
    stop();
    await at.push(60_000);
    expect([at.sent.length, at.clock.alarms]).toEqual([3, 0]);
  });

  it.each([
    ['an answer to its root', { root: ROOT, parent: ROOT }, [['e', ROOT, '', 'reply']]],
    ['a nested answer', { root: ROOT, parent: PARENT }, [['e', ROOT, '', 'root'], ['e', PARENT, '', 'reply']]],
  ])('in a thread has the tags of %s', (_, thread, tags) => {
    const at = new Bench();
    at.signals.typing({ channelId: CHANNEL, thread })();
    expect(at.sent[0]?.tags).toEqual([['h', CHANNEL], ...tags]);
  });

  it('does not pile up at a relay that does not answer', async () => {
    const at = new Bench();
    at.answer = undefined;
    const stop = at.signals.typing({ channelId: CHANNEL });
    await at.push(2_999);
    expect(at.clock.alarms).toBe(2);
    await at.push(1);
    expect(at.clock.alarms).toBeLessThanOrEqual(2);
    stop();
  });

  it(`is told of ${MAX_TYPING} places at once, and of another when one is done`, () => {
    const at = new Bench();
    const stops = Array.from({ length: MAX_TYPING }, () => at.signals.typing({ channelId: CHANNEL }));
    at.signals.typing({ channelId: CHANNEL })();
    expect(at.sent.length).toBe(MAX_TYPING);
    stops[0]?.();
    stops.push(at.signals.typing({ channelId: CHANNEL }));
    expect(at.sent.length).toBe(MAX_TYPING + 1);
    for (const stop of stops) stop();
    expect(at.clock.alarms).toBe(0);
  });

  it('ends with the agent', async () => {
    const at = new Bench();
    at.signals.typing({ channelId: CHANNEL });
    await at.signals.close(0);
    at.signals.typing({ channelId: CHANNEL });
    await at.push(60_000);
    expect([at.told, at.clock.alarms]).toEqual([['20002'], 0]);
  });
});

describe('a signal gives way', () => {
  it.each([
    ['while the relay is away', (at: Bench) => { at.phase = 'waiting'; }],
    ['while its quota is used up', (at: Bench) => { at.limited = true; }],
  ])('%s: it is not sent, nor later', async (_, make) => {
    const at = new Bench();
    make(at);
    const stop = at.signals.typing({ channelId: CHANNEL });
    for (const ms of [0, 3_000]) await at.push(ms);
    stop();
    expect([at.sent, at.signals.report()]).toEqual([[], { sent: 0, dropped: 2 }]);
  });

  it('and a no of the relay is counted', async () => {
    const at = new Bench();
    at.answer = 'rejected';
    at.signals.presence('online');
    await at.push(0);
    expect(at.signals.report()).toEqual({ presence: 'online', sent: 0, dropped: 1 });
  });
});
