/**
 * A relay played by the test on loopback. Nothing is answered unless the test says so, by hand (`send`) or by a
 * `manner` that sees every message. What a connection has received can be awaited, past or to come.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { matchesFilter, parseEvent, parseFilter, verifyEvent } from '../../../src/nostr/index.ts';
import type { Filter, VerifiedEvent } from '../../../src/nostr/index.ts';
import { until } from './clock.ts';

export type Message = readonly unknown[];
export type Manner = (connection: Connection, message: Message) => void;

export class Connection {
  readonly received: Message[] = [];
  readonly subscriptions = new Map<string, readonly Filter[]>();
  readonly #socket: WebSocket;
  closed = false;

  constructor(socket: WebSocket, manner: Manner) {
    this.#socket = socket;
    socket.on('message', (data) => {
      if (!Buffer.isBuffer(data)) throw new Error('not a text message');
      const message = JSON.parse(data.toString()) as Message;
      this.received.push(message);
      manner(this, message);
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.closed = true;
    });
  }

  send(...message: Message): void {
    this.#socket.send(JSON.stringify(message));
  }

  sendText(text: string): void {
    this.#socket.send(text);
  }

  /** The socket's other end sees a reset, at once. */
  drop(): void {
    this.#socket.terminate();
  }

  /** Like a stopped process: the connection stands, nothing is read, no ping is answered. */
  freeze(): void {
    this.#socket.pause();
  }

  /** Every message that begins with `word`, and then `id` where one is given. */
  all(word: string, id?: string): readonly Message[] {
    return this.received.filter((message) => message[0] === word && (id === undefined || message[1] === id));
  }

  /** The `count`th such message. */
  async got(word: string, id?: string, count = 1): Promise<Message> {
    await until(() => this.all(word, id).length >= count);
    return this.all(word, id)[count - 1] ?? [];
  }
}

export class TestRelay {
  readonly connections: Connection[] = [];
  readonly #server: WebSocketServer;

  private constructor(server: WebSocketServer, manner: Manner, greet: (connection: Connection) => void) {
    this.#server = server;
    server.on('connection', (socket) => {
      const connection = new Connection(socket, manner);
      this.connections.push(connection);
      greet(connection);
    });
  }

  static async open(manner: Manner = () => {}, greet: (connection: Connection) => void = () => {}): Promise<TestRelay> {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    return new TestRelay(server, manner, greet);
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The `count`th connection, past or to come. */
  async connection(count = 1): Promise<Connection> {
    await until(() => this.connections.length >= count);
    const connection = this.connections[count - 1];
    if (connection === undefined) throw new Error('unreachable');
    return connection;
  }

  async close(): Promise<void> {
    for (const client of this.#server.clients) client.terminate();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** A small honest relay without AUTH: stores, answers newest first, fans out. */
export class Shelf {
  readonly events: VerifiedEvent[] = [];
  readonly #open = new Set<Connection>();

  readonly manner: Manner = (connection, message) => {
    this.#open.add(connection);
    const [word, first, ...rest] = message;
    if (word === 'REQ' && typeof first === 'string') {
      const filters = rest.map(filterOf);
      connection.subscriptions.set(first, filters);
      const found = this.events.filter((event) => filters.some((filter) => matchesFilter(filter, event)));
      for (const event of [...found].sort((a, b) => b.created_at - a.created_at)) connection.send('EVENT', first, event);
      connection.send('EOSE', first);
    } else if (word === 'CLOSE' && typeof first === 'string') {
      connection.subscriptions.delete(first);
    } else if (word === 'EVENT') {
      const event = eventOf(first);
      const known = this.events.some(({ id }) => id === event.id);
      connection.send('OK', event.id, true, known ? 'duplicate:' : '');
      if (!known) this.put(event);
    }
  };

  /** Stores an event and sends it to whoever asked for it. */
  put(event: VerifiedEvent): void {
    this.events.push(event);
    for (const connection of this.#open) {
      if (connection.closed) continue;
      for (const [id, filters] of connection.subscriptions) {
        if (filters.some((filter) => matchesFilter(filter, event))) connection.send('EVENT', id, event);
      }
    }
  }

  /** Stores what came while nobody was connected. */
  keep(event: VerifiedEvent): void {
    this.events.push(event);
  }
}

function filterOf(value: unknown): Filter {
  const parsed = parseFilter(value);
  if (!parsed.ok) throw new Error(parsed.detail);
  return parsed.filter;
}

function eventOf(value: unknown): VerifiedEvent {
  const parsed = parseEvent(value);
  const checked = parsed.ok ? verifyEvent(parsed.event) : parsed;
  if (!checked.ok) throw new Error(checked.detail);
  return checked.event;
}
