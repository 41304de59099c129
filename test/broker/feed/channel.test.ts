/** One followed channel: order, bounds, and a position that never passes over what was not taken. */
import { describe, expect, it } from 'vitest';
import { Channel } from '../../../src/broker/feed/channel.ts';
import type { ResumePoint } from '../../../src/broker/ports.ts';
import { channelId, seconds } from '../../../src/model/index.ts';
import type { VerifiedEvent } from '../../../src/nostr/index.ts';
import { TestClock } from '../upstream/clock.ts';
import { agent, mention } from '../upstream/events.ts';

const CHANNEL = channelId('11111111-1111-4111-8111-111111111111');
const START = new TestClock().nowSec;

function channelOf(take: (event: VerifiedEvent) => boolean = () => true): {
  readonly channel: Channel; readonly clock: TestClock; readonly taken: string[]; readonly positions: number[];
} {
  const clock = new TestClock();
  const taken: string[] = [];
  const positions: number[] = [];
  const point: ResumePoint = { floorSec: seconds(START - 60), seenSec: seconds(START - 30) };
  const channel = new Channel({
    channelId: CHANNEL, pubkey: agent.pubkey, subscribe: 'all', clock, resumePoint: () => point,
    deliver: async (event) => {
      if (!take(event)) return false;
      taken.push(event.content);
      return true;
    },
    advance: (seenSec) => { positions.push(seenSec - START); },
    passOver: () => {},
  });
  return { channel, clock, taken, positions };
}

describe('a channel', () => {
  it('asks from the read position, back by 15 minutes', () => {
    expect(channelOf().channel.spec.filters()).toEqual([{ kinds: [9, 40_007, 46_010], tags: new Map([['h', [CHANNEL]]]), since: START - 930 }]);
  });

  it('hands stored events on oldest first at EOSE, and moves its position once', async () => {
    const { channel, clock, taken, positions } = channelOf();
    for (const afterSec of [3, 1, 2, -61]) await channel.spec.onEvent(mention(CHANNEL, String(afterSec), START + afterSec - 10), true);
    expect(taken).toEqual([]);
    await channel.spec.onEose?.();
    expect([taken, positions, clock.armed]).toEqual([['1', '2', '3'], [-7], 0]);
    await channel.spec.onEvent(mention(CHANNEL, 'live', START - 5), false);
    await channel.spec.onEose?.();
    expect([taken, positions]).toEqual([['1', '2', '3', 'live'], [-7, -5]]);
  });

  it('does not pass over an event that was not taken', async () => {
    const { channel, taken, positions } = channelOf((event) => event.content !== '2');
    for (const second of [3, 2, 1]) await channel.spec.onEvent(mention(CHANNEL, String(second), START + second - 10), true);
    await channel.spec.onEose?.();
    await channel.spec.onEvent(mention(CHANNEL, '4', START), false);
    expect([taken, positions]).toEqual([['1'], []]);
  });

  it('keeps no more than 5,000 for ordering', async () => {
    const { channel, taken, positions } = channelOf();
    const event = mention(CHANNEL, 'x', START);
    for (let count = 0; count < 4_999; count += 1) await channel.spec.onEvent(event, true);
    expect(taken).toHaveLength(0);
    await channel.spec.onEvent(event, true);
    expect([taken.length, positions]).toEqual([5_000, []]);
  });

  it('is silent when it is closed, and leaves no timer', async () => {
    const { channel, clock, taken, positions } = channelOf();
    await channel.spec.onEvent(mention(CHANNEL, 'waits', START), true);
    expect(clock.armed).toBe(1);
    channel.close();
    expect(clock.armed).toBe(0);
    await channel.spec.onEvent(mention(CHANNEL, 'late', START), false);
    await channel.spec.onEvent(mention(CHANNEL, 'late', START), true);
    await channel.spec.onEose?.();
    expect([taken, positions, clock.armed]).toEqual([[], [], 0]);
  });
});
