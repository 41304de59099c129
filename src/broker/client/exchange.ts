/**
 * One attempt: the bytes out, the whole bounded answer in, in bounded time. What the answer means is not decided here.
 *
 * Its own agent and never the global one: proxies of the environment (HTTP_PROXY, NODE_USE_ENV_PROXY) then have no say,
 * on loopback or elsewhere. `node:http` follows no redirect; a 3xx is an answer like any other. `reached` is false
 * only when no connection came about, so that no byte can have arrived anywhere.
 * NIP-BA "Session and transport".
 */
import { Agent as HttpAgent, request as requestHttp } from 'node:http';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { excerpt, later } from '../../model/index.ts';
import type { Clock } from '../../model/index.ts';
import type { Address, Endpoint } from './endpoint.ts';

export type Exchanged =
  | { readonly type: 'answer'; readonly httpStatus: number; readonly body: Uint8Array }
  | {
      readonly type: 'failure';
      readonly reason: 'unreachable' | 'timeout' | 'cut' | 'too_large' | 'aborted';
      readonly detail: string;
      readonly reached: boolean;
    };

export interface Exchange {
  (bytes: Uint8Array, timeoutMs: number, signal: AbortSignal): Promise<Exchanged>;
}

export interface Wire {
  readonly exchange: Exchange;
  /** Destroys every connection. */
  close(): void;
}

export interface WireOptions {
  readonly endpoint: Endpoint;
  readonly credential: string;
  /** Certificates to trust instead of those that Node trusts; PEM. */
  readonly ca?: string | readonly string[];
  readonly clock: Clock;
  readonly maxConnections: number;
  readonly maxResponseBytes: number;
}

export function openWire({ endpoint, credential, ca, clock, maxConnections, maxResponseBytes }: WireOptions): Wire {
  const { url, secure, loopback } = endpoint;
  const pool = { keepAlive: true, maxSockets: maxConnections, maxFreeSockets: 4 };
  const agent = secure ? new HttpsAgent(pool) : new HttpAgent(pool);
  const common: RequestOptions & { readonly rejectUnauthorized?: true; readonly ca?: string | string[] } = {
    method: 'POST',
    agent,
    // Said outright, because NODE_TLS_REJECT_UNAUTHORIZED=0 changes the default alone.
    ...(secure && { rejectUnauthorized: true }),
    ...(secure && ca !== undefined && { ca: typeof ca === 'string' ? ca : [...ca] }),
    ...(loopback !== undefined && { lookup: answering(loopback) }),
  };

  const exchange: Exchange = (bytes, timeoutMs, signal) =>
    new Promise((resolve) => {
      const headers = {
        'authorization': `Bearer ${credential}`,
        'content-type': 'application/json',
        'content-length': bytes.byteLength,
        'accept': 'application/json',
        'accept-encoding': 'identity',
      };
      const request = (secure ? requestHttps : requestHttp)(url, { ...common, headers });
      let reached = false;
      let answered = false;
      const settle = (exchanged: Exchanged): void => {
        cancelTimer();
        signal.removeEventListener('abort', abort);
        resolve(exchanged);
      };
      const fail = (reason: Extract<Exchanged, { type: 'failure' }>['reason'], detail: string): void => {
        settle({ type: 'failure', reason, detail, reached });
        request.destroy();
      };
      const abort = (): void => {
        fail('aborted', 'the call was aborted');
      };
      const cancelTimer = clock.wake(later(clock.now(), timeoutMs), () => {
        fail('timeout', `no whole answer within ${timeoutMs} ms`);
      });
      signal.addEventListener('abort', abort, { once: true });

      onReached(request, secure, () => { reached = true; });
      request.on('response', (response) => {
        answered = true;
        readWhole(response, maxResponseBytes, {
          whole: (body) => { settle({ type: 'answer', httpStatus: response.statusCode ?? 0, body }); },
          cut: () => { fail('cut', 'the answer ended early'); },
          tooLarge: () => { fail('too_large', `an answer of more than ${maxResponseBytes} bytes`); },
        });
      });
      // Once the answer has begun it decides: a host may answer and close before it has read everything.
      request.on('error', (error) => {
        if (!answered) fail(reached ? 'cut' : 'unreachable', describe(error));
      });
      request.on('close', () => {
        if (!answered) fail(reached ? 'cut' : 'unreachable', 'the connection was closed without an answer');
      });
      if (signal.aborted) abort();
      else request.end(bytes);
    });

  return { exchange, close: () => { agent.destroy(); } };
}

/** Calls back when bytes can arrive at the other side. */
function onReached(request: ClientRequest, secure: boolean, callback: () => void): void {
  request.on('socket', (socket) => {
    if (request.reusedSocket || !socket.connecting) callback();
    else socket.once(secure ? 'secureConnect' : 'connect', callback);
  });
}

interface Reader {
  whole(body: Uint8Array): void;
  cut(): void;
  tooLarge(): void;
}

function readWhole(response: IncomingMessage, maxBytes: number, reader: Reader): void {
  const chunks: Buffer[] = [];
  let length = 0;
  response.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > maxBytes) reader.tooLarge();
    else chunks.push(chunk);
  });
  response.on('end', () => { reader.whole(Buffer.concat(chunks)); });
  response.on('error', () => { reader.cut(); });
  response.on('close', () => { if (!response.complete) reader.cut(); });
}

/** Answers with these addresses, whatever is asked. */
function answering(addresses: readonly Address[]): LookupFunction {
  return (_hostname, options, callback) => {
    const [first] = addresses;
    if (options.all === true || first === undefined) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };
}

/** The code of a system or TLS error; its message only where it has none. Neither holds a header. */
function describe(error: Error & { readonly code?: string }): string {
  return excerpt(error.code ?? error.message, 120);
}
