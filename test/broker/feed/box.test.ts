/** A feed and a second person's connection on the relay in the box: AUTH, channels, mentions, a restart. */
import { afterEach, expect, it } from 'vitest';
import { openFeed } from '../../../src/broker/feed/index.ts';
import { openRelaySelf, openUpstream } from '../../../src/broker/upstream/index.ts';
import type { Upstream } from '../../../src/broker/upstream/index.ts';
import { channelId, secondsOf, silentLog } from '../../../src/model/index.ts';
import type { EventTemplate, VerifiedEvent } from '../../../src/nostr/index.ts';
import { openRelay } from '../../../src/relay/index.ts';
import { openSqlite, SUPERVISOR_SCHEMA } from '../../../src/store/index.ts';
import { steadyClock, systemClock, systemRandom } from '../../../src/system/index.ts';
import { until } from '../upstream/clock.ts';
import { agent, author, relayKey, sign } from '../upstream/events.ts';

const TEAM = channelId('11111111-1111-4111-8111-111111111111');
const LATER = channelId('22222222-2222-4222-8222-222222222222');

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const part of open.splice(0).reverse()) await part.close();
});

function keep<Part extends { close(): Promise<void> }>(part: Part): Part {
  open.push(part);
  return part;
}

/** Signed now: the relay in the box refuses stamps that are far off. */
function signNow(by: typeof agent, template: Omit<EventTemplate, 'created_at'>): VerifiedEvent {
  return sign(by, { ...template, created_at: secondsOf(systemClock.now()) });
}

function connect(url: string, as: typeof agent): Upstream {
  return keep(openUpstream({
    url, pubkey: as.pubkey, clock: steadyClock, random: systemRandom, log: silentLog,
    signAuth: (challenge, relayUrl) =>
      signNow(as, { kind: 22_242, tags: [['relay', relayUrl], ['challenge', challenge]], content: '' }),
  }));
}

it('finds its channels, takes mentions once over a restart, joins and leaves as it is told', async () => {
  const relay = keep(await openRelay({
    port: 0, storePath: ':memory:', secretKey: relayKey.secretKey, clock: systemClock, steadyClock, random: systemRandom,
    seedChannels: [
      { id: TEAM, name: 'team', visibility: 'private', members: [{ pubkey: author.pubkey, role: 'admin' }, { pubkey: agent.pubkey, role: 'member' }] },
      { id: LATER, name: 'later', visibility: 'private', members: [{ pubkey: author.pubkey, role: 'admin' }] },
    ],
  }));
  const store = keep(openSqlite(':memory:', SUPERVISOR_SCHEMA));
  const person = connect(relay.url, author);
  const say = async (channel: string, content: string): Promise<void> => {
    const event = signNow(author, { kind: 9, content, tags: [['h', channel], ['p', agent.pubkey]] });
    expect(await person.publish(event, { timeoutMs: 10_000 })).toEqual({ status: 'accepted', eventId: event.id });
  };
  const change = async (kind: number): Promise<void> => {
    const event = signNow(author, { kind, content: '', tags: [['h', LATER], ['p', agent.pubkey]] });
    expect(await person.publish(event, { timeoutMs: 10_000 })).toEqual({ status: 'accepted', eventId: event.id });
  };

  const relaySelf = openRelaySelf({ url: relay.url, clock: steadyClock });
  expect(await relaySelf.key()).toBe(relay.pubkey);
  const story: string[] = [];
  const handled = new Set<string>();
  const start = (): { stop(): Promise<void> } => {
    const upstream = connect(relay.url, agent);
    const feed = keep(openFeed({
      upstream, store, clock: systemClock, log: silentLog, relaySelf: () => relaySelf.key(), identity: { pubkey: agent.pubkey, subscribe: 'mentions' },
    }));
    feed.follow(async (item) => {
      const where = item.channelId === TEAM ? 'team' : 'later';
      if (item.type !== 'event') story.push(`${item.type} ${where}`);
      else if (!handled.has(item.event.id)) {
        handled.add(item.event.id);
        story.push(`${item.event.content} in ${where}`);
      }
    });
    return {
      stop: async () => {
        await feed.close();
        await upstream.close();
      },
    };
  };

  const first = start();
  await until(() => story.includes('joined team'));
  await say(TEAM, 'one');
  await until(() => story.includes('one in team'));
  await change(9_000);
  await until(() => story.includes('joined later'));
  await say(LATER, 'two');
  await until(() => story.includes('two in later'));
  await first.stop();

  await say(TEAM, 'three');
  start();
  await until(() => story.includes('three in team') && story.filter((entry) => entry === 'joined later').length === 2);
  await change(9_001);
  await until(() => story.includes('left later'));
  await say(TEAM, 'four');
  await until(() => story.includes('four in team'));
  expect(story.filter((entry) => entry.includes(' in '))).toEqual(['one in team', 'two in later', 'three in team', 'four in team']);
});
