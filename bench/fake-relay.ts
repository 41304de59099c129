/** The least relay that a broker follows: no AUTH, every event accepted, and what it has sent can be asked for. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { channelOf, matchesFilter, parseFilter } from '../src/nostr/index.ts';
import type { Filter, VerifiedEvent } from '../src/nostr/index.ts';

export interface FakeRelay {
  readonly url: string;
  /** Sends an event to every subscription whose filters match it; returns the time just before. */
  send(event: VerifiedEvent): number;
  /** To how many connections that would be. */
  hearers(event: VerifiedEvent): number;
  close(): Promise<void>;
}

interface Subscription {
  readonly byChannel: ReadonlyMap<string, readonly Filter[]>;
  /** Of no channel. */
  readonly others: readonly Filter[];
}

/** With `keeps: false` it forgets what it sends: for so many events that they would be most of the memory there is. */
export async function openFakeRelay(given: readonly VerifiedEvent[], { keeps = true } = {}): Promise<FakeRelay> {
  const stored = [...given];
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  await once(server, 'listening');
  const subscriptions = new Map<WebSocket, Map<string, Subscription>>();
  server.on('connection', (socket) => {
    const mine = new Map<string, Subscription>();
    subscriptions.set(socket, mine);
    socket.on('close', () => subscriptions.delete(socket));
    socket.on('message', (data: Buffer) => {
      const [type, id, ...rest] = JSON.parse(data.toString()) as [string, unknown, ...unknown[]];
      if (type === 'REQ' && typeof id === 'string') {
        const subscription = subscriptionOf(rest.map(filterOf));
        mine.set(id, subscription);
        for (const event of stored) if (matches(subscription, event)) socket.send(JSON.stringify(['EVENT', id, event]));
        socket.send(JSON.stringify(['EOSE', id]));
      } else if (type === 'CLOSE' && typeof id === 'string') {
        mine.delete(id);
      } else if (type === 'EVENT') {
        socket.send(JSON.stringify(['OK', (id as VerifiedEvent).id, true, '']));
      }
    });
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `ws://127.0.0.1:${port}`,
    send(event) {
      const text = JSON.stringify(event);
      if (keeps) stored.push(event);
      const at = performance.now();
      for (const [socket, mine] of subscriptions) {
        for (const [id, subscription] of mine) if (matches(subscription, event)) socket.send(`["EVENT",${JSON.stringify(id)},${text}]`);
      }
      return at;
    },
    hearers: (event) => [...subscriptions.values()].filter((mine) => [...mine.values()].some((subscription) => matches(subscription, event))).length,
    async close() {
      for (const socket of server.clients) socket.terminate();
      await new Promise((resolve) => { server.close(resolve); });
    },
  };
}

function filterOf(wire: unknown): Filter {
  const parsed = parseFilter(wire);
  if (!parsed.ok) throw new TypeError(`a filter of the broker's: ${parsed.detail}`);
  return parsed.filter;
}

/** By the channel they ask for: a subscription may ask for hundreds, and an event is of one. */
function subscriptionOf(filters: readonly Filter[]): Subscription {
  const byChannel = new Map<string, Filter[]>();
  const others: Filter[] = [];
  for (const filter of filters) {
    const channels = filter.tags?.get('h');
    if (channels === undefined) others.push(filter);
    for (const channel of channels ?? []) {
      const there = byChannel.get(channel);
      if (there === undefined) byChannel.set(channel, [filter]);
      else there.push(filter);
    }
  }
  return { byChannel, others };
}

function matches({ byChannel, others }: Subscription, event: VerifiedEvent): boolean {
  const ofChannel = byChannel.get(channelOf(event.tags) ?? '') ?? [];
  return [...ofChannel, ...others].some((filter) => matchesFilter(filter, event));
}
