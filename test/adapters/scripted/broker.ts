/** A real HTTP server in the broker's place: keeps what it was sent, answers as the test says. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isMembers, parseJson } from '../../../adapters/scripted/json.ts';
import type { Frame, Value } from './client.ts';

export interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  readonly request: Frame;
}

/** What the server does with one request: a response, cutting the connection, or nothing at all. */
export type Answer =
  | { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly body: string }
  | 'cut'
  | 'never';

export interface Broker {
  readonly env: Readonly<Record<string, string>>;
  readonly received: readonly Received[];
  readonly close: () => Promise<void>;
}

export async function startBroker(answer: (request: Frame, count: number) => Answer = published): Promise<Broker> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const frame = parseJson(body);
      if (!isMembers(frame)) return void request.socket.destroy();
      received.push({ path: request.url ?? '', headers: request.headers, body, request: frame });
      const given = answer(frame, received.length);
      if (given === 'cut') return void request.socket.destroy();
      if (given === 'never') return;
      response.writeHead(given.status ?? 200, { 'content-type': 'application/json', ...given.headers });
      response.end(given.body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    env: { SKEP_BROKER_URL: `http://127.0.0.1:${port(server.address())}`, SKEP_CREDENTIAL: 'test-credential' },
    received,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export const EVENT_ID = 'e'.repeat(64);

export function published(request: Frame): Answer {
  return succeeded(request, { eventId: EVENT_ID, kind: 9, createdAt: 1_700_000_000 });
}

export function succeeded(request: Frame, outcome: Value): Answer {
  return verdict(request, { status: 'succeeded', action: request['action'] ?? null, outcome });
}

export function failed(request: Frame, code: string, message = 'no'): Answer {
  return verdict(request, { status: 'failed', error: { code, message } });
}

export function verdict({ requestId = null }: Frame, members: Frame): Answer {
  return { body: JSON.stringify({ type: 'broker_result', protocolVersion: 1, requestId, ...members }) };
}

function port(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('not listening');
  return address.port;
}
