/** Turn metrics on their way: one event each, sent until there is a verdict, and nobody waits. */
import { describe, expect, it } from 'vitest';
import { GIVE_UP_MS, MAX_WAITING, openMetrics } from '../../src/broker/metrics.ts';
import type { Metrics } from '../../src/broker/metrics.ts';
import type { PublishOutcome } from '../../src/broker/index.ts';
import { later, milliseconds, silentLog } from '../../src/model/index.ts';
import type { VerifiedEvent } from '../../src/nostr/index.ts';
import { signEvent } from '../../src/nostr/index.ts';
import { HeldClock, START_MS } from './clock.ts';
import { AGENT, OWNER } from './people.ts';

const AT = later(milliseconds(START_MS), 1_999);

interface Bench {
  readonly metrics: Metrics;
  readonly clock: HeldClock;
  readonly sent: VerifiedEvent[];
  readonly warnings: unknown[];
  /** Answers the oldest publication that waits. */
  answer(status: 'accepted' | 'rejected' | 'unknown'): Promise<void>;
}

function bench(seal: (text: string) => { ok: true; payload: string } | { ok: false; code: 'peer'; detail: string } = (text) => ({ ok: true, payload: `sealed ${text}` })): Bench {
  const clock = new HeldClock();
  const sent: VerifiedEvent[] = [];
  const warnings: unknown[] = [];
  const open: ((outcome: PublishOutcome) => void)[] = [];
  const metrics = openMetrics({
    pubkey: AGENT.pubkey, owner: OWNER.pubkey, seal, steadyClock: clock,
    sign: (template) => signEvent(template, AGENT.secretKey, new Uint8Array(32)),
    upstream: {
      publish: (event) => {
        sent.push(event);
        return new Promise((resolve) => open.push(resolve));
      },
    },
    log: { ...silentLog, warn: (_, fields) => { warnings.push(fields?.['reason'] ?? 'not sealed'); } },
  });
  return {
    metrics, clock, sent, warnings,
    async answer(status) {
      const [event] = sent.slice(-open.length);
      if (event === undefined) throw new Error('nothing waits');
      open.shift()?.(status === 'accepted' ? { status, eventId: event.id } : { status, eventId: event.id, reason: `it is ${status}` });
      await new Promise((resolve) => { setImmediate(resolve); });
    },
  };
}

describe('a metric', () => {
  it('is one sealed event for the owner, in no channel, of the second in which the turn ended', async () => {
    const at = bench();
    at.metrics.publish('numbers', AT);
    expect(at.sent).toMatchObject([{
      kind: 44_200, tags: [['p', OWNER.pubkey], ['agent', AGENT.pubkey]], content: 'sealed numbers', created_at: START_MS / 1_000 + 1, pubkey: AGENT.pubkey,
    }]);
    await at.answer('accepted');
    expect([at.sent.length, at.clock.alarms, at.warnings]).toEqual([1, 0, []]);
  });

  it('is sent again, the very same, while nobody knows what became of it', async () => {
    const at = bench();
    at.metrics.publish('numbers', AT);
    for (const pauseMs of [5_000, 10_000, 20_000]) {
      await at.answer('unknown');
      at.clock.push(pauseMs - 1);
      const before = at.sent.length;
      at.clock.push(1);
      await new Promise((resolve) => { setImmediate(resolve); });
      expect(at.sent.length).toBe(before + 1);
    }
    await at.answer('accepted');
    expect(new Set(at.sent.map(({ id, sig }) => id + sig)).size).toBe(1);
    expect([at.clock.alarms, at.warnings]).toEqual([0, []]);
  });

  it('that the relay refuses is over', async () => {
    const at = bench();
    at.metrics.publish('numbers', AT);
    await at.answer('rejected');
    expect([at.sent.length, at.clock.alarms, at.warnings]).toEqual([1, 0, ['it is rejected']]);
  });

  it('is given up after a day', async () => {
    const at = bench();
    at.metrics.publish('numbers', AT);
    at.clock.push(GIVE_UP_MS - 5_000);
    await at.answer('unknown');
    expect([at.clock.alarms, at.warnings]).toEqual([0, ['it is unknown']]);
  });

  it('that cannot be sealed is told of, without a word of it', () => {
    const at = bench(() => ({ ok: false, code: 'peer', detail: 'x' }));
    at.metrics.publish('numbers', AT);
    expect([at.sent, at.warnings]).toEqual([[], ['not sealed']]);
  });

  it('waits with a bounded number of others: the oldest goes', () => {
    const at = bench();
    for (let nth = 0; nth <= MAX_WAITING; nth += 1) at.metrics.publish(`${nth}`, AT);
    expect([at.sent.length, at.warnings]).toEqual([MAX_WAITING + 1, [`more than ${MAX_WAITING} wait`]]);
  });
});

describe('the end', () => {
  it('waits for what is under way, and for no longer than it was told', async () => {
    const at = bench();
    at.metrics.publish('numbers', AT);
    const closed = at.metrics.close(1_000);
    await at.answer('accepted');
    await closed;
    expect([at.clock.alarms, at.warnings]).toEqual([0, []]);
    await at.metrics.close(1_000);

    const stuck = bench();
    stuck.metrics.publish('numbers', AT);
    await stuck.answer('unknown');
    const late = stuck.metrics.close(1_000);
    await stuck.clock.armed(1_000);
    stuck.clock.push(1_000);
    await late;
    expect([stuck.clock.alarms, stuck.warnings]).toEqual([0, ['the broker closes']]);
    stuck.metrics.publish('more', AT);
    expect(stuck.sent.length).toBe(1);
  });
});
