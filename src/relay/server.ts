/**
 * The HTTP and WebSocket server: upgrades within the limit of connections, the information document, fan-out to all
 * connections, the heartbeat, and the end of it all. What a message means is `conversation.ts`, and a signed request
 * `bridge.ts`.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { errorCode, Failure, later } from '../model/index.ts';
import type { Clock, Log, Random } from '../model/index.ts';
import type { Bridge } from './bridge.ts';
import { Connection } from './connection.ts';
import type { RelayParts } from './conversation.ts';
import { serveInformation } from './information.ts';
import type { RelayLimits } from './limits.ts';
import type { Delivery } from './subscription.ts';

export interface ServerOptions {
  /** For deadlines. */
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: RelayLimits;
  readonly log: Log;
  readonly information: Readonly<Record<string, unknown>>;
}

/** What the operator calls the port and the address: a member of a config, or a flag. */
export interface ListenNames {
  readonly port: string;
  readonly host: string;
}

interface Place {
  readonly host: string;
  readonly port: number;
  readonly names?: ListenNames;
}

/** For requests over HTTP, as the broker's host has them; a WebSocket has its own deadlines. */
const HTTP_OPTIONS = { maxHeaderSize: 16_384, headersTimeout: 10_000, requestTimeout: 20_000, requireHostHeader: true };
/** A socket without a byte either way, before it is a WebSocket: a reader that reads nothing. */
const IDLE_TIMEOUT_MS = 60_000;

export class RelayServer {
  readonly #options: ServerOptions;
  readonly #http: Server;
  readonly #sockets: WebSocketServer;
  readonly #connections = new Set<Connection>();
  #bridge: Bridge | undefined;
  #cancelHeartbeat: () => void = () => undefined;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#http = createServer(HTTP_OPTIONS, (request, response) => {
      if (this.#bridge?.(request, response) !== true) serveInformation(request, response, options.information);
    });
    this.#http.setTimeout(IDLE_TIMEOUT_MS);
    // Compression would cost each delivery more than it saves on loopback, and could not be shared between clients.
    this.#sockets = new WebSocketServer({
      noServer: true, perMessageDeflate: false, maxPayload: options.limits.maxFrameBytes,
    });
  }

  get connections(): number {
    return this.#connections.size;
  }

  get subscriptions(): number {
    let total = 0;
    for (const connection of this.#connections) total += connection.subscriptions;
    return total;
  }

  /** Listens, and resolves with the port. Rejects with a `listen` failure that names port or address. */
  async listen(place: Place): Promise<number> {
    const { host, port } = place;
    await new Promise<void>((resolve, reject) => {
      this.#http.once('error', (error) => {
        reject(listenFailure(error, place));
      });
      this.#http.listen(port, host, resolve);
    });
    this.#http.removeAllListeners('error');
    this.#http.on('error', (error) => {
      this.#options.log.error('server error', { detail: error.message });
    });
    const address = this.#http.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  }

  /** Takes connections from now on. Call it in the same turn in which `listen` resolves. */
  serve(parts: RelayParts, bridge: Bridge): void {
    this.#bridge = bridge;
    this.#http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (this.#connections.size >= this.#options.limits.maxConnections) {
        socket.end('HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
        return;
      }
      this.#sockets.handleUpgrade(request, socket, head, (webSocket) => {
        const challenge = Buffer.from(this.#options.random.bytes(32)).toString('hex');
        const connection = new Connection(webSocket, parts, challenge);
        this.#connections.add(connection);
        webSocket.on('close', () => this.#connections.delete(connection));
      });
    });
    this.#armHeartbeat();
  }

  deliver(delivery: Delivery): void {
    for (const connection of this.#connections) connection.offer(delivery);
  }

  /** Takes no more connections, lets those there are end, drops what is left after the grace. */
  async close(): Promise<void> {
    const { clock, limits } = this.#options;
    this.#cancelHeartbeat();
    const closed = new Promise<void>((resolve) => {
      this.#http.close(() => {
        resolve();
      });
    });
    this.#http.removeAllListeners('upgrade');
    const cancelGrace = clock.wake(later(clock.now(), limits.closeGraceMs), () => {
      for (const connection of this.#connections) connection.terminate();
      this.#http.closeAllConnections();
    });
    await Promise.all([...this.#connections].map((connection) => connection.close()));
    this.#http.closeIdleConnections();
    await closed;
    cancelGrace();
  }

  #armHeartbeat(): void {
    const { clock, limits } = this.#options;
    this.#cancelHeartbeat = clock.wake(later(clock.now(), limits.pingIntervalMs), () => {
      for (const connection of this.#connections) connection.heartbeat();
      this.#armHeartbeat();
    });
  }
}

function listenFailure(error: Error, { host, port, names = { port: 'port', host: 'host' } }: Place): Failure {
  const failed = (name: string, what: string): Failure => new Failure('listen', `${name}: ${what}`, { cause: error });
  switch (errorCode(error)) {
    case 'EADDRINUSE':
      return failed(names.port, `another program listens on port ${port} of ${host}; choose another port`);
    case 'EACCES':
    case 'EPERM':
      return failed(names.port, `this user may not listen on port ${port}; choose one above 1023`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return failed(names.host, `${host} is no address of this machine`);
    default:
      return failed(names.host, `port ${port} of ${host}: ${error.message}`);
  }
}
