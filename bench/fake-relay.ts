/** The least relay that a broker follows: no AUTH, every event accepted, and what it has sent can be asked for. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { matchesFilter, parseFilter } from '../src/nostr/index.ts';
import type { Filter, VerifiedEvent } from '../src/nostr/index.ts';

export interface FakeRelay {
  readonly url: string;
  /** Sends an event to every subscription whose filters match it; returns the time just before. */
  send(event: VerifiedEvent): number;
  /** To how many connections that would be. */
  hearers(event: VerifiedEvent): number;
  close(): Promise<void>;
}

/** With `keeps: false` it forgets what it sends: for so many events that they would be most of the memory there is. */
export async function openFakeRelay(given: readonly VerifiedEvent[], { keeps = true } = {}): Promise<FakeRelay> {
  const stored = [...given];
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  await once(server, 'listening');
  const subscriptions = new Map<WebSocket, Map<string, readonly Filter[]>>();
  server.on('connection', (socket) => {
    const mine = new Map<string, readonly Filter[]>();
    subscriptions.set(socket, mine);
    socket.on('close', () => subscriptions.delete(socket));
    socket.on('message', (data: Buffer) => {
      const [type, id, ...rest] = JSON.parse(data.toString()) as [string, unknown, ...unknown[]];
      if (type === 'REQ' && typeof id === 'string') {
        const filters = rest.map(filterOf);
        mine.set(id, filters);
        for (const event of stored) if (matches(filters, event)) socket.send(JSON.stringify(['EVENT', id, event]));
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
        for (const [id, filters] of mine) if (matches(filters, event)) socket.send(`["EVENT",${JSON.stringify(id)},${text}]`);
      }
      return at;
    },
    hearers: (event) => [...subscriptions.values()].filter((mine) => [...mine.values()].some((filters) => matches(filters, event))).length,
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

function matches(filters: readonly Filter[], event: VerifiedEvent): boolean {
  return filters.some((filter) => matchesFilter(filter, event));
}
