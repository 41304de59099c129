/** The system's clock is set while the broker runs: no deadline fires early, none is starved. */
import { expect, it, onTestFinished } from 'vitest';
import { openBroker } from '../../src/broker/index.ts';
import type { AgentLink } from '../../src/broker/index.ts';
import { later, silentLog } from '../../src/model/index.ts';
import type { Clock } from '../../src/model/index.ts';
import { systemRandom } from '../../src/system/index.ts';
import { identity } from './harness.ts';
import { AGENT, CHANNEL } from './people.ts';
import { openStore } from './temp-store.ts';
import { TestClock, until } from './upstream/clock.ts';
import { TestRelay } from './upstream/relay.ts';
import type { Connection } from './upstream/relay.ts';

const HOUR_MS = 3_600_000;

/** As the system's clock is: its time may be set, its waits pass all the same. */
class WallClock implements Clock {
  readonly #steady: TestClock;
  #offMs = 0;

  constructor(steady: TestClock) {
    this.#steady = steady;
  }

  now(): ReturnType<Clock['now']> {
    return later(this.#steady.now(), this.#offMs);
  }

  wake(...[atMs, callback]: Parameters<Clock['wake']>): () => void {
    return this.#steady.wake(later(this.#steady.now(), atMs - this.now()), callback);
  }

  set(byMs: number): void {
    this.#offMs += byMs;
  }
}

interface World {
  readonly steady: TestClock;
  readonly wall: WallClock;
  readonly relay: TestRelay;
  readonly link: AgentLink;
  /** The first connection, ready. */
  readonly connection: Connection;
}

async function world(): Promise<World> {
  const steady = new TestClock();
  const wall = new WallClock(steady);
  const relay = await TestRelay.open();
  const broker = await openBroker({
    relayUrl: relay.url, identities: [identity(AGENT, { channels: [CHANNEL] })], store: openStore(), log: silentLog, keyDirectory: 'none',
    clock: wall, steadyClock: steady, random: { bytes: (count) => systemRandom.bytes(count), fraction: () => 0.5 },
  });
  onTestFinished(async () => {
    const closed = broker.close(0);
    await until(() => true);
    steady.advance(10_000);
    await Promise.all([closed, relay.close()]);
  });
  const link = broker.link(AGENT.pubkey);
  const connection = await relay.connection(1);
  await until(() => link.status().phase === 'authenticating');
  steady.advance(250);
  expect(link.status().phase).toBe('ready');
  return { steady, wall, relay, link, connection };
}

it.each([['an hour on', HOUR_MS], ['an hour back', -HOUR_MS]])('a clock that is set %s ends no wait of a fetch', async (_, byMs) => {
  const { steady, wall, link, connection } = await world();
  let ended = false;
  const fetched = link.fetch([{ kinds: [9], tags: new Map() }], { timeoutMs: 8_000 }).finally(() => { ended = true; });
  await until(() => connection.received.length > 0);
  wall.set(byMs);
  // Something is heard, so that the driver looks at its deadlines again.
  connection.send('NOTICE', 'hello');
  connection.send('EOSE', 'nobody');
  await until(() => link.status().phase === 'ready');
  steady.advance(7_999);
  await until(() => true);
  expect([ended, link.status().phase]).toEqual([false, 'ready']);
  steady.advance(1);
  expect(await fetched).toEqual({ events: [], complete: false });
});

it.each([['an hour on', HOUR_MS], ['an hour back', -HOUR_MS]])('a clock that is set %s leaves liveness and the way back as they are', async (_, byMs) => {
  const { steady, wall, relay, link, connection } = await world();
  wall.set(byMs);
  connection.freeze();
  // 30 s after it was opened it is pinged, and 10 s later given up.
  steady.advance(29_750);
  expect(link.status().phase).toBe('ready');
  steady.advance(9_999);
  expect(link.status().phase).toBe('ready');
  steady.advance(1);
  expect(link.status()).toMatchObject({ phase: 'waiting', attempts: 1 });
  wall.set(-2 * byMs);
  steady.advance(999);
  expect(link.status().phase).toBe('waiting');
  steady.advance(1);
  await relay.connection(2);
  await until(() => link.status().phase === 'authenticating');
});
