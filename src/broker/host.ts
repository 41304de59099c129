/**
 * NIP-BA's HTTP boundary: `POST /v1/action` on a loopback address. What cannot be a correlated verdict (a strange
 * host, origin, path, method or content type, a body too long or too slow, no request id) is a plain HTTP error here,
 * and neither executed nor recorded. Every verdict is HTTP 200. No CORS: no page may read an answer.
 *
 * A page can make a browser send requests to loopback, under its own name (Origin) or under a name it made resolve
 * to loopback (Host); so both must be ours. Never logs a header or a body.
 */
import { once } from 'node:events';
import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { Failure, unreachable } from '../model/index.ts';
import type { Log } from '../model/index.ts';
import { readBody } from './body.ts';
import type { Dispatch } from './dispatch.ts';
import { authorityOf, isLoopback, refusalOf, tokenOf } from './request-head.ts';
import { REQUEST_LIMITS } from './wire/index.ts';

export interface Host {
  /** `http://127.0.0.1:<port>`. */
  readonly endpoint: string;
  /** Takes no more requests, lets those under way end within `graceMs`, then cuts them off. Twice is once. */
  close(graceMs: number): Promise<void>;
}

export interface HostOptions {
  readonly dispatch: Dispatch;
  readonly log: Log;
  /** Only `127.0.0.1` (the default) and `::1`. */
  readonly address?: string;
  /** 0, the default, lets the system choose. */
  readonly port?: number;
  readonly limits?: Partial<HostLimits>;
  /** Calls back after `ms`; cancelled by the function it returns. */
  readonly after: (ms: number, callback: () => void) => () => void;
}

export interface HostLimits {
  readonly maxConnections: number;
  /** Requests between their head and their answer. */
  readonly maxRequests: number;
  readonly maxHeaderBytes: number;
  /** From a connection's first byte to the end of the headers; then HTTP 408. */
  readonly headersTimeoutMs: number;
  /** To the end of the body; then HTTP 408. */
  readonly requestTimeoutMs: number;
  /** A connection without a byte either way: longer than any action takes, or a reader that reads nothing. */
  readonly idleTimeoutMs: number;
}

const LIMITS: HostLimits = {
  maxConnections: 512,
  maxRequests: 256,
  maxHeaderBytes: 16_384,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 20_000,
  idleTimeoutMs: 60_000,
};

const PATH = '/v1/action';

/** Throws `Failure`: `config` for an address that is not loopback, `listen` when it cannot be listened on. */
export async function openHost(options: HostOptions): Promise<Host> {
  const { log, address = '127.0.0.1', port = 0, after } = options;
  if (!isLoopback(address)) {
    throw new Failure('config', 'broker address: expected 127.0.0.1 or ::1; without TLS nothing else may be bound');
  }
  const limits = { ...LIMITS, ...options.limits };
  const app = routes(options.dispatch, log, limits);
  const server = createAdaptorServer({
    fetch: app.fetch,
    hostname: address,
    serverOptions: {
      maxHeaderSize: limits.maxHeaderBytes,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: Math.min(1_000, limits.requestTimeoutMs),
      requireHostHeader: true,
    },
  }) as Server; // without http2 options it is node:http's
  server.maxConnections = limits.maxConnections;
  server.setTimeout(limits.idleTimeoutMs);
  const authority = await listen(server, address, port);
  return { endpoint: `http://${authority}`, close: closer(server, after) };
}

type Env = { readonly Bindings: HttpBindings };

function routes(dispatch: Dispatch, log: Log, limits: HostLimits): Hono<Env> {
  const app = new Hono<Env>();
  let requests = 0;

  app.use(async (context, next) => {
    const refusal = refusalOf(context.env.incoming);
    if (refusal !== undefined) return context.text(refusal.detail, refusal.httpStatus);
    return await next();
  });

  app.post(PATH, async (context) => {
    const { incoming } = context.env;
    if (!isJson(incoming.headersDistinct['content-type'])) {
      return context.text('expected Content-Type: application/json', 415);
    }
    if (requests >= limits.maxRequests) return context.text('too many requests at once', 503);
    requests += 1;
    try {
      const body = await readBody(incoming, REQUEST_LIMITS.maxBytes);
      if (body.status === 'too_large') {
        return context.text(`expected a body of at most ${REQUEST_LIMITS.maxBytes} bytes`, 413, {
          connection: 'close',
        });
      }
      if (body.status === 'broken') return context.text('the body ended early', 400);
      const reply = await dispatch(tokenOf(incoming), body.bytes);
      switch (reply.type) {
        case 'verdict':
          return context.body(new Uint8Array(reply.bytes), 200, { 'content-type': 'application/json' });
        case 'uncorrelated':
          return context.text(reply.detail, 400);
        case 'busy':
          return context.text(reply.detail, 503);
        default:
          return unreachable(reply);
      }
    } finally {
      requests -= 1;
    }
  });

  app.all(PATH, (context) => context.text('expected POST', 405, { allow: 'POST' }));
  app.notFound((context) => context.text('not found', 404));
  app.onError((error, context) => {
    log.error('broker: a request ended in a fault', { error });
    return context.text('an unexpected fault in the broker', 500);
  });
  return app;
}

function isJson(contentTypes: readonly string[] | undefined): boolean {
  const [type = '', ...more] = contentTypes ?? [];
  return more.length === 0 && /^application\/json(?:\s*;\s*charset="?utf-8"?)?\s*$/i.test(type);
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
  let closed: Promise<void> | undefined;
  return (graceMs) => {
    closed ??= (async () => {
      const ended = once(server, 'close');
      server.close();
      server.closeIdleConnections();
      const cancel = after(graceMs, () => {
        server.closeAllConnections();
      });
      await ended;
      cancel();
    })();
    return closed;
  };
}
