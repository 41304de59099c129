/** The relay's own key over real HTTP: what is a document, how often it is asked for, and that nothing waits for ever. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { openRelaySelf } from '../../../src/broker/upstream/index.ts';
import type { RelaySelf } from '../../../src/broker/upstream/index.ts';
import { TestClock, until } from './clock.ts';
import { author, relayKey } from './events.ts';

interface Asked {
  readonly self: RelaySelf;
  readonly clock: TestClock;
  /** The `accept` of each request. */
  readonly requests: (string | undefined)[];
}

async function served(answer: RequestListener): Promise<Asked> {
  const requests: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    requests.push(request.headers.accept);
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const clock = new TestClock();
  const self = openRelaySelf({ url: `ws://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/team`, clock });
  onTestFinished(async () => {
    self.close();
    server.closeAllConnections();
    await new Promise((resolve) => { server.close(resolve); });
    expect(clock.armed).toBe(0);
  });
  return { self, clock, requests };
}

it('is asked for once, in the words of NIP-11, and again after ten minutes; a later silence changes nothing', async () => {
  let key: string | undefined = relayKey.pubkey;
  const { self, clock, requests } = await served((_, response) => {
    if (key === undefined) response.destroy();
    else response.end(JSON.stringify({ name: 'r', self: key }));
  });
  expect(await Promise.all([self.key(), self.key()])).toEqual([relayKey.pubkey, relayKey.pubkey]);
  clock.advance(599_999);
  expect([await self.key(), requests]).toEqual([relayKey.pubkey, ['application/nostr+json']]);
  key = author.pubkey;
  clock.advance(1);
  expect([await self.key(), requests.length]).toEqual([author.pubkey, 2]);
  key = undefined;
  clock.advance(600_000);
  expect([await self.key(), requests.length]).toEqual([author.pubkey, 3]);
});

it.each<[string, RequestListener]>([
  ['no document', (_, response) => response.writeHead(404).end('{}')],
  ['a text', (_, response) => response.end('This is a Nostr relay.')],
  ['a list', (_, response) => response.end('[]')],
  ['no key', (_, response) => response.end('{"name":"r"}')],
  ['a key that is none', (_, response) => response.end('{"self":"relay"}')],
  ['more than 64 KiB', (_, response) => response.end(JSON.stringify({ self: relayKey.pubkey, more: 'x'.repeat(65_536) }))],
  ['a redirection', (_, response) => response.writeHead(302, { location: '/' }).end()],
  ['an end in the middle', (_, response) => { response.write('{"self"'); response.destroy(); }],
])('%s is none, and is asked for again after a minute', async (_, answer) => {
  const { self, clock, requests } = await served(answer);
  expect([await self.key(), await self.key(), requests.length]).toEqual([undefined, undefined, 1]);
  clock.advance(60_000);
  expect([await self.key(), requests.length]).toEqual([undefined, 2]);
});

it('takes three seconds at most, and no time after the end', async () => {
  const { self, clock, requests } = await served(() => {});
  const first = self.key();
  await until(() => requests.length === 1);
  clock.advance(3_000);
  expect(await first).toBe(undefined);
  clock.advance(60_000);
  const second = self.key();
  await until(() => requests.length === 2);
  self.close();
  expect(await second).toBe(undefined);
  clock.advance(600_000);
  expect([await self.key(), requests.length]).toEqual([undefined, 2]);
});
