/** An endpoint on a real socket that answers as it is told, one answer for each request, and keeps what it was sent. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { openClientOn } from '../../../src/broker/client/index.ts';
import type { BrokerClient, ClientLimits, ClientOptions, ClientParts } from '../../../src/broker/client/index.ts';
import { steadyClock, systemRandom } from '../../../src/system/index.ts';
import { CERTIFICATE, KEY } from '../../setup/certificate.ts';

export const CREDENTIAL = 'the-Credential_of.this~test-0123456789+/=';

export interface Received {
  readonly url: string;
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  readonly requestId: string;
}

export type Answer = (response: ServerResponse, received: Received) => void;

export interface Endpoint {
  readonly url: string;
  readonly received: readonly Received[];
}

/** The last answer is given for ever. */
export async function endpoint(...answers: readonly [Answer, ...Answer[]]): Promise<Endpoint> {
  return listening(createServer(), 'http', answers);
}

export async function secureEndpoint(...answers: readonly [Answer, ...Answer[]]): Promise<Endpoint> {
  return listening(createSecureServer({ key: KEY, cert: CERTIFICATE }), 'https', answers);
}

async function listening(
  server: ReturnType<typeof createServer>,
  scheme: string,
  answers: readonly [Answer, ...Answer[]],
): Promise<Endpoint> {
  const received: Received[] = [];
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => undefined);
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const { requestId } = JSON.parse(text) as { requestId: string };
      const one = { url: request.url ?? '', method: request.method ?? '', headers: request.headers, text, requestId };
      received.push(one);
      (answers[received.length - 1] ?? answers.at(-1) ?? expect.fail('no answer'))(response, one);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return { url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

/** Pauses of a millisecond, so that six attempts take no time. */
const QUICK: Partial<ClientLimits> = { firstPauseMs: 1, longestPauseMs: 1 };

export function clientOf(
  url: string,
  { limits, clock = steadyClock, ...options }: Partial<ClientOptions> & Partial<ClientParts> = {},
): BrokerClient {
  const client = openClientOn(
    { clock, random: systemRandom },
    { endpoint: url, credential: CREDENTIAL, ...options, limits: { ...QUICK, ...limits } },
  );
  onTestFinished(() => {
    client.close();
  });
  return client;
}

// Answers.

/** A verdict on whatever was asked, with this HTTP status. */
export function verdict(body: Readonly<Record<string, unknown>>, httpStatus = 200): Answer {
  return (response, { requestId }) => {
    response.writeHead(httpStatus, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ type: 'broker_result', protocolVersion: 1, requestId, ...body }));
  };
}

export function posted(httpStatus = 200, more: Readonly<Record<string, unknown>> = {}): Answer {
  const outcome = { eventId: '0123456789abcdef'.repeat(4), kind: 9, createdAt: 1_760_000_000 };
  return verdict({ status: 'succeeded', action: 'message.post', outcome, ...more }, httpStatus);
}

export function failedWith(code: string, more: Readonly<Record<string, unknown>> = {}): Answer {
  return verdict({ status: 'failed', error: { code, message: 'why' }, ...more });
}

export const unknownOutcome = verdict({ status: 'indeterminate', error: { code: 'outcome_unknown', message: 'why' } });

export function plain(httpStatus: number, headers: Readonly<Record<string, string>> = {}, text = 'no'): Answer {
  return (response) => {
    response.writeHead(httpStatus, { 'content-type': 'text/plain', ...headers });
    response.end(text);
  };
}

/** The connection ends without a word. */
export const reset: Answer = (response) => {
  response.destroy();
};

/** The connection ends in the middle of a promising answer. */
export const truncated: Answer = (response, { requestId }) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' });
  response.write(`{"type":"broker_result","requestId":"${requestId}"`, () => response.destroy());
};

export const silence: Answer = () => undefined;
