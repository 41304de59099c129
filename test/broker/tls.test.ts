/** The endpoint by TLS: the same rules as on loopback, seen by `node:https` and by a raw TLS client. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { connect } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Broker } from '../../src/broker/index.ts';
import { openHost } from '../../src/broker/host.ts';
import type { HostLimits } from '../../src/broker/host.ts';
import { later, silentLog } from '../../src/model/index.ts';
import { steadyClock } from '../../src/system/index.ts';
import { CERTIFICATE, KEY } from '../setup/certificate.ts';
import { bench, post, requestBytes, told } from './harness.ts';

const TLS = { cert: CERTIFICATE, key: KEY };
const BYTES = requestBytes('r-1');

interface Asked {
  readonly status: number;
  readonly text: string;
}

/** One POST over verified TLS. */
async function ask(endpoint: string, token: string | undefined, headers: Record<string, string> = {}, ca: string | string[] = CERTIFICATE): Promise<Asked> {
  const sent = request(`${endpoint}/v1/action`, {
    method: 'POST', ca, agent: false, servername: 'localhost',
    headers: { 'content-type': 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
  });
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  sent.end(BYTES);
  const [response] = await answered;
  const text = (await response.toArray()).map(String).join('');
  return { status: response.statusCode ?? 0, text };
}

function verdictOf({ status, text }: Asked): string {
  return told({ status, text, headers: new Headers(), result: status === 200 ? (JSON.parse(text) as object) : {} });
}

async function secured(options: Parameters<typeof bench>[0] = {}): Promise<{ readonly broker: Broker; readonly token: string }> {
  const { broker, link } = await bench({ tls: TLS, ...options });
  return { broker, token: link.openSession().token };
}

describe('the endpoint by TLS', () => {
  it('acts, and replays what came in by the other door', async () => {
    const { broker, token } = await secured();
    expect(broker.publicEndpoint).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect(broker.endpoint).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(verdictOf(await ask(broker.publicEndpoint, token))).toBe('succeeded');
    expect(told(await post(broker.endpoint, token, BYTES))).toBe('succeeded, replayed');
  });

  it('asks for a credential like the other', async () => {
    const { broker } = await secured();
    expect(verdictOf(await ask(broker.publicEndpoint, undefined))).toBe('failed/unauthenticated');
  });

  it('is not believed by a client that does not know who made its certificate', async () => {
    const { broker, token } = await secured();
    await expect(ask(broker.publicEndpoint, token, {}, [])).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  });

  it.each<[string, Record<string, string>, number]>([
    ['a foreign host', { host: 'evil.example' }, 403],
    ['the public name without a port', { host: 'broker.example' }, 200],
    ['the public name with the port of https', { host: 'Broker.Example:443' }, 200],
    ['the public name with another port', { host: 'broker.example:444' }, 403],
    ['a foreign origin', { origin: 'https://evil.example' }, 403],
    ['the origin in the clear', { origin: 'http://broker.example' }, 403],
    ['the public origin', { origin: 'https://broker.example' }, 200],
    ['a compressed body', { 'content-encoding': 'gzip' }, 415],
    ['a body that says it is too long', { 'content-length': '524289' }, 413],
    ['a head that is too long', { padding: 'x'.repeat(20_000) }, 431],
  ])('%s', async (_, headers, status) => {
    expect((await ask(await echoing({}, 'https://broker.example'), undefined, headers)).status).toBe(status);
  });

  it('has no public name but the one it was given', async () => {
    expect((await ask(await echoing(), undefined, { host: 'broker.example' })).status).toBe(403);
  });

  it('is not there in the clear', async () => {
    const endpoint = await echoing();
    const socket = connectPlain(Number(new URL(endpoint).port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => undefined);
    let received = '';
    socket.on('data', (chunk) => (received += String(chunk)));
    socket.write('POST /v1/action HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await once(socket, 'close');
    expect(received).not.toContain('HTTP/1.1 200');
  });
});

async function echoing(limits: Partial<HostLimits> = {}, endpoint?: string): Promise<string> {
  const host = await openHost({
    dispatch: (_, bytes) => Promise.resolve({ type: 'verdict', text: Buffer.from(bytes).toString() }),
    log: silentLog, tls: TLS, limits,
    ...(endpoint === undefined ? {} : { endpoint }),
    after: (ms, callback) => steadyClock.wake(later(steadyClock.now(), ms), callback),
  });
  onTestFinished(() => host.close(0));
  return host.endpoint;
}

describe('a slow client', () => {
  async function raw(endpoint: string, text: string): Promise<string> {
    const socket = connect({ port: Number(new URL(endpoint).port), host: '127.0.0.1', servername: 'localhost', ca: CERTIFICATE });
    onTestFinished(() => void socket.destroy());
    let received = '';
    socket.on('data', (chunk) => (received += String(chunk)));
    socket.on('error', () => undefined);
    await once(socket, 'secureConnect');
    socket.write(text);
    await once(socket, 'close');
    return received;
  }

  it.each([
    ['its head', ''],
    ['its body', 'content-type: application/json\r\ncontent-length: 10\r\n\r\nhalf'],
  ])('that does not finish %s is cut off', async (_, rest) => {
    const endpoint = await echoing({ headersTimeoutMs: 200, requestTimeoutMs: 200 });
    expect(await raw(endpoint, `POST /v1/action HTTP/1.1\r\nhost: ${new URL(endpoint).host}\r\n${rest}`)).toContain('HTTP/1.1 408');
  });

  it('that does not finish its handshake is cut off', async () => {
    const endpoint = await echoing({ headersTimeoutMs: 200 });
    const socket = connectPlain(Number(new URL(endpoint).port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(Buffer.from([0x16, 0x03, 0x01]));
    await once(socket, 'close');
    expect((await ask(endpoint, undefined)).status).toBe(200);
  });

  it('in its handshake does not hold the end up', async () => {
    const host = await openHost({
      dispatch: (_, bytes) => Promise.resolve({ type: 'verdict', text: Buffer.from(bytes).toString() }), log: silentLog, tls: TLS,
      // Longer than a test may take: it is not this that ends the handshake.
      limits: { headersTimeoutMs: 600_000, requestTimeoutMs: 600_000 },
      after: (ms, callback) => steadyClock.wake(later(steadyClock.now(), ms), callback),
    });
    const socket = connectPlain(Number(new URL(host.endpoint).port), '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    const gone = once(socket, 'close');
    await host.close(0);
    await gone;
  });

  it('beyond the connections there may be is dropped, and the others are served', async () => {
    const endpoint = await echoing({ maxConnections: 1 });
    const first = connect({ port: Number(new URL(endpoint).port), host: '127.0.0.1', servername: 'localhost', ca: CERTIFICATE });
    onTestFinished(() => void first.destroy());
    await once(first, 'secureConnect');
    const second = connectPlain(Number(new URL(endpoint).port), '127.0.0.1');
    second.on('error', () => undefined);
    await once(second, 'close');
    first.write(`POST /v1/action HTTP/1.1\r\nhost: ${new URL(endpoint).host}\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}`);
    const [chunk] = (await once(first, 'data')) as [Buffer];
    expect(chunk.toString('utf8')).toContain('HTTP/1.1 200');
  });
});
