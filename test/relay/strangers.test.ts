/** Strangers' clients: nostr-tools, unmodified, as a relay and as a pool. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { afterEach, beforeAll, expect, it, onTestFinished } from 'vitest';
import { finalizeEvent } from 'nostr-tools/pure';
import type { Event, EventTemplate, VerifiedEvent } from 'nostr-tools/pure';
import { SimplePool, useWebSocketImplementation } from 'nostr-tools/pool';
import { Relay as ToolsRelay, useWebSocketImplementation as useForRelay } from 'nostr-tools/relay';
import { WebSocket } from 'ws';
import { alice, bob, PRIVATE, startRelay } from './harness.ts';
import type { Person } from './harness.ts';

const nowSec = (): number => Math.floor(Date.now() / 1000);
const pools: SimplePool[] = [];

beforeAll(() => {
  useWebSocketImplementation(WebSocket);
  useForRelay(WebSocket);
});

afterEach(() => {
  for (const pool of pools.splice(0)) pool.destroy();
});

function signer({ key }: Person): (template: EventTemplate) => Promise<VerifiedEvent> {
  return (template) => Promise.resolve(finalizeEvent(template, key));
}

function poolOf(person: Person): SimplePool {
  const pool = new SimplePool();
  pool.automaticallyAuth = () => signer(person);
  pools.push(pool);
  return pool;
}

/** Stands in front of a relay as a TLS proxy does: clients know another URL than the relay listens on. */
async function proxy(): Promise<{ readonly url: string; readonly leadTo: (relayUrl: string) => void }> {
  let port = 0;
  const server = createServer((client) => {
    const relay = connect(port, '127.0.0.1');
    client.pipe(relay).pipe(client);
    for (const end of [client, relay]) end.on('error', () => { client.destroy(); relay.destroy(); });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  onTestFinished(async () => { await new Promise((resolve) => { server.close(resolve); }); });
  return {
    url: `ws://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    leadTo: (relayUrl) => { port = Number(new URL(relayUrl).port); },
  };
}

it.each([['told its name outside', true], ['not told', false]])('authenticates a client behind a proxy, %s: %s', async (_, isTold) => {
  const front = await proxy();
  const relay = await startRelay(isTold ? { publicUrl: front.url } : {});
  front.leadTo(relay.url);
  for (const [url, admitted] of [[front.url, isTold], [relay.url, true]] as const) {
    const client = await ToolsRelay.connect(url);
    onTestFinished(() => { client.close(); });
    const sent = client.auth(signer(alice));
    if (admitted) await sent;
    else await expect(sent).rejects.toThrow(`relay: expected ${relay.url}`);
  }
});

it('serves two pools that authenticate by themselves', async () => {
  const { url } = await startRelay();
  const [writer, reader] = [poolOf(alice), poolOf(bob)];
  const received: Event[] = [];
  let first: () => void = () => undefined;
  const arrived = new Promise<void>((resolve) => {
    first = resolve;
  });
  await new Promise<void>((resolve) => {
    const closer = reader.subscribe([url], { kinds: [9], '#h': [PRIVATE] }, {
      onevent: (event) => {
        received.push(event);
        first();
      },
      oneose: resolve,
      onauth: signer(bob),
    });
    onTestFinished(() => {
      closer.close();
    });
  });
  const event = finalizeEvent({ kind: 9, tags: [['h', PRIVATE]], content: 'hello', created_at: nowSec() }, alice.key);
  await Promise.all(writer.publish([url], event, { onauth: signer(alice) }));
  await arrived;
  expect(received.map(({ id }) => id)).toEqual([event.id]);
  expect(await reader.querySync([url], { kinds: [9], '#h': [PRIVATE] })).toHaveLength(1);
  expect(await reader.get([url], { ids: [event.id] })).toMatchObject({ id: event.id, content: 'hello' });
});

it('serves a plain client: AUTH, publish, count, refusals as its errors', async () => {
  const { url } = await startRelay();
  const relay = await ToolsRelay.connect(url);
  onTestFinished(() => {
    relay.close();
  });
  const note = finalizeEvent({ kind: 1, tags: [], content: 'note', created_at: nowSec() }, alice.key);
  await expect(relay.publish(note)).rejects.toThrow('auth-required');
  await relay.auth(signer(alice));
  await relay.publish(note);
  expect(await relay.count([{ kinds: [1] }], {})).toBe(1);
  const foreign = finalizeEvent({ kind: 1, tags: [], content: 'note', created_at: nowSec() }, bob.key);
  await expect(relay.publish(foreign)).rejects.toThrow('does not match authenticated identity');
});
