/** A relay connection on a real socket with a clock that the test pushes; everything is closed after each test. */
import { expect } from 'vitest';
import { openUpstream } from '../../../src/broker/upstream/index.ts';
import type { SubscriptionSpec, Upstream, UpstreamOptions } from '../../../src/broker/upstream/index.ts';
import { silentLog } from '../../../src/model/index.ts';
import type { Filter, VerifiedEvent } from '../../../src/nostr/index.ts';
import { evenRandom, TestClock, until } from './clock.ts';
import { agent, authEvent, sign } from './events.ts';
import { TestRelay } from './relay.ts';
import type { Connection, Manner } from './relay.ts';

export const CHANNEL = '11111111-1111-4111-8111-111111111111';
export const FILTER: Filter = { kinds: [9], tags: new Map([['h', [CHANNEL]]]) };
export const EVENT = sign(agent, { kind: 9, content: 'ours', tags: [['h', CHANNEL]] });

export const opened: { close(): Promise<void> }[] = [];
/** The clock of the running test. */
export let clock = new TestClock();

/** To be handed to `afterEach` by each test file: a module's own hooks belong to the file that loads it first. */
export async function closeOpened(): Promise<void> {
  const closing = opened.splice(0).reverse().map((part) => part.close());
  // The grace of a close that nobody answers.
  await until(() => true);
  clock.advance(5_000);
  await Promise.all(closing);
  expect(clock.armed).toBe(0);
  clock = new TestClock();
}

export async function relayOf(manner?: Manner, greet?: (connection: Connection) => void): Promise<TestRelay> {
  const relay = await TestRelay.open(manner, greet);
  opened.unshift(relay);
  return relay;
}

export function connect(url: string, options: Partial<UpstreamOptions> = {}): Upstream {
  const upstream = openUpstream({
    url, pubkey: agent.pubkey, signAuth: authEvent, clock, random: evenRandom, log: silentLog, ...options,
  });
  opened.push(upstream);
  return upstream;
}

/** Connected to a relay that asks for no AUTH. */
export async function ready(relay: TestRelay, upstream: Upstream, count = 1): Promise<Connection> {
  const connection = await relay.connection(count);
  await until(() => upstream.phase() === 'authenticating');
  clock.advance(250);
  expect(upstream.phase()).toBe('ready');
  return connection;
}

export async function authenticate(connection: Connection): Promise<void> {
  const [, event] = await connection.got('AUTH');
  connection.send('OK', (event as VerifiedEvent).id, true, '');
}

export interface Taken {
  readonly spec: SubscriptionSpec;
  readonly events: { readonly id: string; readonly stored: boolean }[];
  eoses: number;
}

export function collecting(id: string, filters: () => readonly Filter[] = () => [FILTER]): Taken {
  const taken: Taken = {
    events: [],
    eoses: 0,
    spec: {
      id,
      filters,
      onEvent: async (event, stored) => { taken.events.push({ id: event.id, stored }); },
      onEose: () => { taken.eoses += 1; },
    },
  };
  return taken;
}
