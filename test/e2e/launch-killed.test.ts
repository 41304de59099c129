/**
 * A supervisor that is killed (kill -9) between the start of an agent and the word of the relay that its record is stored:
 * the next one sees to it, and each start is recorded once. Real programs, a real relay, and a way to it that holds back.
 */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import * as nip44 from 'nostr-tools/nip44';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { toNpub } from '../../src/nostr/index.ts';
import { until } from '../broker/upstream/clock.ts';
import { reportWhen } from '../cli/report.ts';
import { startSkep, stopAll } from '../cli/skep.ts';
import type { Skep } from '../cli/skep.ts';
import { alice, bob, Client, startRelay } from '../relay/harness.ts';
import { temporaryDirectory } from '../setup/temp.ts';

afterEach(stopAll);

/** What becomes of an engram on its way: it is passed on, kept back, or passed on and the answer kept back. */
type Passage = 'open' | 'held' | 'unanswered';

interface Way {
  readonly url: string;
  passage: Passage;
  /** Ids of the engrams that were sent, each time. */
  readonly sent: string[];
}

async function openWay(): Promise<Way> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const relay = await startRelay({ publicUrl: url, agentOwners: [{ agent: bob.pubkey, owner: alice.pubkey }], seedChannels: [] });
  const way: Way = { url, passage: 'open', sent: [] };
  server.on('connection', (near) => {
    const far = new WebSocket(relay.url);
    const opened = once(far, 'open');
    near.on('message', (data: Buffer) => {
      const text = data.toString();
      const [word, event] = JSON.parse(text) as [string, { readonly id: string; readonly kind: number }];
      const isEngram = word === 'EVENT' && event.kind === 30_174;
      if (isEngram) way.sent.push(event.id);
      if (!isEngram || way.passage !== 'held') void opened.then(() => { far.send(text); });
    });
    far.on('message', (data: Buffer) => {
      const [word, id] = JSON.parse(data.toString()) as [string, string];
      if (word !== 'OK' || way.passage !== 'unanswered' || !way.sent.includes(id)) near.send(data.toString());
    });
    near.on('close', () => { far.close(); });
    far.on('close', () => { near.close(); });
    far.on('error', () => undefined);
  });
  onTestFinished(() => {
    for (const near of server.clients) near.terminate();
    server.close();
  });
  return way;
}

function home(url: string): string {
  const directory = temporaryDirectory();
  for (const [name, { key }] of [['a', bob], ['o', alice]] as const) writeFileSync(join(directory, `${name}.key`), Buffer.from(key).toString('hex'), { mode: 0o600 });
  writeFileSync(join(directory, 'skep.yaml'), `relay: ${url}\ndata: data\nowner-key: o.key\nagents:\n  - { name: helper, key: a.key, owner: ${toNpub(alice.pubkey)}, adapter: scripted, teams: [], instructions: Be brief. }\n`);
  return directory;
}

async function up(directory: string): Promise<Skep> {
  const skep = startSkep(['up'], directory);
  await skep.says('Ctrl-C stops');
  return skep;
}

it.each<Passage>(['held', 'unanswered'])('an engram on its way is %s', async (passage) => {
  const way = await openWay();
  const directory = home(way.url);
  const pending = (count: number) => reportWhen(join(directory, 'data'), ({ launches, agents }) =>
    agents[0]?.processes[0]?.pid !== undefined && launches?.[0]?.pendingRecords === count);
  way.passage = passage;
  const first = await up(directory);
  const { launches: [before] = [] } = await pending(1);
  await until(() => way.sent.length > 0);
  first.kill('SIGKILL');
  await first.ended;

  way.passage = 'open';
  await up(directory);
  const { launches: [after] = [] } = await pending(0);
  const owner = await Client.as(alice, way);
  owner.send(['REQ', 'memory', { 'kinds': [30_174], '#p': [alice.pubkey] }]);
  await owner.next('EOSE', 'memory');
  const key = nip44.getConversationKey(alice.key, bob.pubkey);
  const slugs = owner.receivedEvents('memory').map(({ content }) => (JSON.parse(nip44.decrypt(content, key)) as { readonly slug: string }).slug);
  expect(before?.runId).not.toBe(after?.runId);
  expect(slugs.sort()).toEqual([`mem/launches/${before?.runId ?? ''}`, `mem/launches/${after?.runId ?? ''}`].sort());
  // What the relay had already was not sent as another event.
  expect(new Set(way.sent).size).toBe(passage === 'held' ? 3 : 2);
}, 60_000);
