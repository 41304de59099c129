/**
 * The whole broker behind a proxy that swallows what the relay in the box delivers to one subscription: the message that was
 * swallowed arrives after the canary has found it out. Time runs ten times as fast for what has deadlines.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { openBroker } from '../../../src/broker/index.ts';
import { later, silentLog } from '../../../src/model/index.ts';
import type { Clock } from '../../../src/model/index.ts';
import { openSqlite, SUPERVISOR_SCHEMA } from '../../../src/store/index.ts';
import { steadyClock, systemClock, systemRandom } from '../../../src/system/index.ts';
import { Client, startRelay } from '../../relay/harness.ts';
import { temporaryDirectory } from '../../setup/temp.ts';
import { identity } from '../harness.ts';
import { AGENT, CHANNEL, ELSEWHERE, OWNER } from '../people.ts';

const SPEED = 10;

const fastClock: Clock = {
  now: () => later(steadyClock.now(), (SPEED - 1) * (steadyClock.now() - BEGAN_MS)),
  wake: (atMs, callback) => steadyClock.wake(later(steadyClock.now(), Math.max(0, (atMs - fastClock.now()) / SPEED)), callback),
};
const BEGAN_MS = steadyClock.now();

/** Forwards all but what `swallows` names. */
class Proxy {
  readonly swallows = new Set<string>();
  swallowed = 0;
  target = '';
  readonly #server: WebSocketServer;

  private constructor(server: WebSocketServer) {
    this.#server = server;
    server.on('connection', (near) => {
      const far = new WebSocket(this.target);
      const early: string[] = [];
      near.on('message', (data: Buffer) => {
        if (far.readyState === WebSocket.OPEN) far.send(data.toString());
        else early.push(data.toString());
      });
      far.on('open', () => { for (const text of early.splice(0)) far.send(text); });
      far.on('message', (data: Buffer) => {
        const [word, id] = JSON.parse(data.toString()) as readonly string[];
        if (word === 'EVENT' && this.swallows.has(id ?? '')) this.swallowed += 1;
        else near.send(data.toString());
      });
      near.on('close', () => { far.terminate(); });
      far.on('close', () => { near.terminate(); });
      for (const socket of [near, far]) socket.on('error', () => undefined);
    });
  }

  static async open(): Promise<Proxy> {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    onTestFinished(async () => {
      for (const client of server.clients) client.terminate();
      await new Promise((resolve) => server.close(resolve));
    });
    return new Proxy(server);
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }
}

it('a message that one deaf subscription would have lost arrives, and the one beside it was never late', async () => {
  const proxy = await Proxy.open();
  const [member, admin] = [{ pubkey: AGENT.pubkey, role: 'member' }, { pubkey: OWNER.pubkey, role: 'admin' }] as const;
  const relay = await startRelay({
    publicUrl: proxy.url, agentOwners: [{ agent: AGENT.pubkey, owner: OWNER.pubkey }],
    seedChannels: [CHANNEL, ELSEWHERE].map((id) => ({ id, name: 'team', visibility: 'private', members: [admin, member] })),
  });
  proxy.target = relay.url;
  const directory = temporaryDirectory();
  const store = openSqlite(join(directory, 'skep.db'), SUPERVISOR_SCHEMA);
  onTestFinished(() => store.close());
  const broker = await openBroker({
    relayUrl: proxy.url, identities: [identity(AGENT, { canaryMs: 30_000 })], store, clock: systemClock, steadyClock: fastClock, random: systemRandom,
    log: silentLog, keyDirectory: join(directory, 'agents'),
  });
  onTestFinished(() => broker.close(0));
  const link = broker.link(AGENT.pubkey);
  const heard: string[] = [];
  link.controls(() => undefined);
  link.follow(async (item) => { if (item.type === 'event') heard.push(item.event.content); });
  const report = (): NonNullable<ReturnType<typeof link.canary>> => link.canary() ?? expect.fail('no canary');
  // Two channels, the lists, the notices, the orders: the relay in the box carries it in each.
  await vi.waitFor(() => { expect(report()).toMatchObject({ subscriptions: 5, hearing: 5, deaf: [] }); }, { timeout: 30_000 });
  const deaf = `ch-${CHANNEL}`;
  proxy.swallows.add(deaf);
  const owner = await Client.as({
    key: OWNER.secretKey, pubkey: OWNER.pubkey,
    sign: (kind, tags = [], content = '', createdAtSec = Math.floor(Date.now() / 1000)) => OWNER.sign({ kind, tags, content, createdAtSec }),
  }, { url: proxy.url });
  for (const [channel, content] of [[CHANNEL, 'swallowed'], [ELSEWHERE, 'beside it']] as const) {
    const event = OWNER.sign({ tags: [['h', channel], ['p', AGENT.pubkey]], content, createdAtSec: Math.floor(Date.now() / 1000) });
    owner.socket.send(JSON.stringify(['EVENT', event]));
  }
  await vi.waitFor(() => { expect(heard).toEqual(['beside it']); }, { timeout: 30_000 });
  await vi.waitFor(() => { expect(report().deaf).toMatchObject([{ subscription: deaf }]); }, { timeout: 30_000 });
  expect(heard).toEqual(['beside it']);
  proxy.swallows.clear();
  await vi.waitFor(() => { expect(heard).toEqual(['beside it', 'swallowed']); }, { timeout: 30_000 });
  await vi.waitFor(() => { expect(report()).toMatchObject({ hearing: 5, deaf: [], deafened: 1, recovered: 1 }); }, { timeout: 30_000 });
  expect(proxy.swallowed).toBeGreaterThan(0);
}, 90_000);
