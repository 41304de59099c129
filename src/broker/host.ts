/**
 * NIP-BA's HTTP listener: plain on a loopback address, TLS on any other. What a request must be is `routes.ts`.
 *
 * A page can make a browser send requests to loopback, under its own name (Origin) or under a name it made resolve
 * to loopback (Host); so both must be ours. Never logs a header or a body.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Socket } from 'node:net';
import { authorityOf, isLoopback, openDoor } from '../http/index.ts';
import { Failure } from '../model/index.ts';
import type { Log } from '../model/index.ts';
import type { Dispatch } from './dispatch.ts';
import { openRoutes } from './routes.ts';

export interface Host {
  /** `http://127.0.0.1:<port>`, or `https` and the address it was told. */
  readonly endpoint: string;
  /** Takes no more requests, lets those under way end within `graceMs`, then cuts them off. Twice cuts them off at once. */
  close(graceMs: number): Promise<void>;
}

/** PEM texts. */
export interface Identification {
  readonly cert: string;
  readonly key: string;
}

export interface HostOptions {
  readonly dispatch: Dispatch;
  readonly log: Log;
  /** Without `tls` only `127.0.0.1` (the default) and `::1`. */
  readonly address?: string;
  /** 0, the default, lets the system choose. */
  readonly port?: number;
  readonly tls?: Identification;
  /** A URL by which it is reached besides its own address. */
  readonly endpoint?: string;
  readonly limits?: Partial<HostLimits>;
  /** Calls back after `ms`; cancelled by the function it returns. */
  readonly after: (ms: number, callback: () => void) => () => void;
}

export interface HostLimits {
  readonly maxConnections: number;
  /** Requests between their head and their answer. */
  readonly maxRequests: number;
  readonly maxHeaderBytes: number;
  /** From a connection's first byte to the end of the headers; then HTTP 408. Also for the handshake of TLS, before it. */
  readonly headersTimeoutMs: number;
  /** To the end of the body; then HTTP 408. */
  readonly requestTimeoutMs: number;
  /** A connection without a byte either way: longer than any action takes, or a reader that reads nothing. */
  readonly idleTimeoutMs: number;
}

export const HOST_LIMITS: HostLimits = {
  maxConnections: 512,
  maxRequests: 256,
  maxHeaderBytes: 16_384,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 20_000,
  idleTimeoutMs: 60_000,
};

/** Throws `Failure`: `config` for an address that would be served in the clear, `listen` when it cannot be listened on. */
export async function openHost(options: HostOptions): Promise<Host> {
  const { dispatch, log, address = '127.0.0.1', port = 0, tls, endpoint, after } = options;
  if (tls === undefined && !isLoopback(address)) {
    throw new Failure('config', 'broker address: expected 127.0.0.1 or ::1; without TLS nothing else may be bound');
  }
  const limits = { ...HOST_LIMITS, ...options.limits };
  const scheme = tls === undefined ? 'http' : 'https';
  const routes = openRoutes({ door: openDoor(scheme, endpoint), dispatch, log, maxRequests: limits.maxRequests });
  const serverOptions = {
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: Math.min(1_000, limits.requestTimeoutMs),
    requireHostHeader: true,
  };
  const server = tls === undefined
    ? createServer(serverOptions, routes)
    : createSecureServer({ ...serverOptions, ...tls, handshakeTimeout: limits.headersTimeoutMs }, routes);
  server.maxConnections = limits.maxConnections;
  server.setTimeout(limits.idleTimeoutMs);
  const authority = await listen(server, address, port);
  return { endpoint: `${scheme}://${authority}`, close: closer(server, after) };
}

async function listen(server: Server, address: string, port: number): Promise<string> {
  try {
    server.listen(port, address);
    await once(server, 'listening');
  } catch (error) {
    throw new Failure('listen', `broker: ${address} port ${port} cannot be listened on`, { cause: error });
  }
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new TypeError('broker: expected a TCP address');
  return authorityOf(bound.address, bound.port);
}

function closer(server: Server, after: HostOptions['after']): Host['close'] {
  // By ourselves: a server knows no connection that is still in its TLS handshake.
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  const cut = (): void => {
    server.closeAllConnections();
    for (const socket of sockets) socket.destroy();
  };
  let closed: Promise<void> | undefined;
  return (graceMs) => {
    if (closed !== undefined) cut();
    closed ??= (async () => {
      const ended = once(server, 'close');
      server.close();
      server.closeIdleConnections();
      const cancel = after(graceMs, cut);
      await ended;
      cancel();
    })();
    return closed;
  };
}
