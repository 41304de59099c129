/**
 * Noise on the endpoint by TLS, before, in and after the handshake: each connection ends, nothing is done, and who comes
 * next is served. The seed is in the name of a failure.
 */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { sql } from '../../src/store/index.ts';
import { CERTIFICATE, KEY } from '../setup/certificate.ts';
import { bench, requestBytes } from './harness.ts';
import { openStore } from './temp-store.ts';

const RUNS = 40;
const BODY = Buffer.from(requestBytes('r-1'));

async function rig() {
  const store = openStore();
  const { broker, link } = await bench({ store, tls: { cert: CERTIFICATE, key: KEY } });
  const { token } = link.openSession();
  const { port, host } = new URL(broker.publicEndpoint);
  const head = `POST /v1/action HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\ncontent-type: application/json\r\nauthorization: Bearer ${token}\r\n`;
  const secured = async (): Promise<Socket> => {
    const socket = connectSecure({ port: Number(port), host: '127.0.0.1', servername: 'localhost', ca: CERTIFICATE });
    await once(socket, 'secureConnect');
    return socket;
  };
  return {
    plain: () => Promise.resolve(connect(Number(port), '127.0.0.1')),
    secured,
    head: (length: number) => `${head}content-length: ${length}\r\n\r\n`,
    records: async () => (await store.read(sql('SELECT request_id FROM journal'))).length,
  };
}

/** Whatever comes back until the connection is over; where that is nothing's last request, the client says so. */
async function sentOn(socket: Socket, bytes: Uint8Array, isCut: boolean): Promise<string> {
  onTestFinished(() => void socket.destroy());
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  const closed = once(socket, 'close');
  socket.write(bytes);
  if (isCut) socket.end();
  await closed;
  return received;
}

/** What a client begins with: one true record of a handshake. */
async function clientHello(): Promise<Buffer> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('expected a TCP address');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const client = connectSecure({ port: address.port, host: '127.0.0.1', servername: 'localhost' });
  client.on('error', () => undefined);
  const [socket] = await accepted;
  const [hello] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  client.destroy();
  server.close();
  return hello;
}

/** `bytes` with some of them replaced, and cut. */
function damaged(bytes: Buffer): fc.Arbitrary<Buffer> {
  const changes = fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 });
  return fc.tuple(changes, fc.integer({ min: 1, max: bytes.length })).map(([each, length]) => {
    const copy = Buffer.from(bytes);
    for (const [at, byte] of each) copy[at] = byte;
    return copy.subarray(0, length);
  });
}

const NOISE = fc.uint8Array({ minLength: 1, maxLength: 2_000 });

it('does nothing, ends, and leaves the endpoint as it was', { timeout: 120_000 }, async () => {
  const { plain, secured, head, records } = await rig();
  const hello = await clientHello();
  const noisy = async (open: () => Promise<Socket>, bytes: fc.Arbitrary<Uint8Array>, isCut = true): Promise<void> => {
    await fc.assert(fc.asyncProperty(bytes, async (each) => {
      expect(await sentOn(await open(), each, isCut)).not.toContain('HTTP/1.1 200');
    }), { numRuns: RUNS });
  };
  await noisy(plain, NOISE);
  await noisy(plain, damaged(hello));
  await noisy(secured, NOISE);
  await noisy(secured, NOISE.map((body) => Buffer.concat([Buffer.from(head(body.length)), body])), false);
  expect(await records()).toBe(0);
  // The control: one request that is none of this is done, once.
  const answered = await sentOn(await secured(), Buffer.concat([Buffer.from(head(BODY.length)), BODY]), false);
  expect(answered).toContain('"status":"succeeded"');
  expect(await records()).toBe(1);
});
