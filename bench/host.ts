/**
 * Goal H1: `POST /v1/action` with everything but an effect (head, body, credential, strict reading of the request, the
 * plan's choice, a result), against a bare `node:http` server that gives back the body it was sent. The journal is one
 * that answers at once. Both serve the same load, from a process of its own, in turns; compared is the processor time
 * of this process for each request, which other work on the machine leaves alone.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openDispatch } from '../src/broker/dispatch.ts';
import type { DispatchOptions } from '../src/broker/dispatch.ts';
import { openHost } from '../src/broker/host.ts';
import { openSessions } from '../src/broker/sessions.ts';
import { writeUntypedRequest } from '../src/broker/wire/index.ts';
import { later, pubkey, silentLog } from '../src/model/index.ts';
import { steadyClock, systemClock, systemRandom } from '../src/system/index.ts';
import type { BenchRow } from './row.ts';

const PAIRS = 9;
/** So many that the start of the load's process, which counts for both, is a hundredth of it. */
const REQUESTS = 20_000;
const WARM_UPS = 3;
const CONNECTIONS = 16;
const CHANNEL = '11111111-2222-4333-8444-555555555555';
const PRINCIPAL = { community: 'wss://relay.example', principal: pubkey('1'.repeat(64)), owner: pubkey('2'.repeat(64)) };

const LOAD = fileURLToPath(new URL('./programs/http-load.js', import.meta.url));

interface Measured {
  readonly cpuUs: number;
  readonly wallUs: number;
}

export async function run(): Promise<BenchRow[]> {
  const directory = mkdtempSync(join(tmpdir(), 'skep-bench-'));
  const sessions = openSessions({ random: systemRandom, clock: systemClock });
  const { token } = sessions.open(PRINCIPAL);
  const body = requestBytes();
  const host = await openHost({
    dispatch: openDispatch(dispatchOptions(sessions)),
    log: silentLog,
    after: (ms, callback) => steadyClock.wake(later(steadyClock.now(), ms), callback),
  });
  const bare = await echo();
  try {
    const load = (port: number): (() => Promise<Measured>) => {
      const file = join(directory, `${port}`);
      writeFileSync(file, Buffer.concat([Buffer.from(headOf(token, port, body.length)), body]));
      return () => measured(port, file);
    };
    const [subject, floor] = [load(Number(new URL(host.endpoint).port)), load(portOf(bare))];
    for (let count = 0; count < WARM_UPS; count += 1) await Promise.all([subject(), floor()]);
    return [await compared(subject, floor)];
  } finally {
    await host.close(0);
    bare.closeAllConnections();
    bare.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function compared(subject: () => Promise<Measured>, floor: () => Promise<Measured>): Promise<BenchRow> {
  const pairs: { readonly subject: Measured; readonly floor: Measured }[] = [];
  for (let pair = 0; pair < PAIRS; pair += 1) pairs.push({ floor: await floor(), subject: await subject() });
  const of = (read: (pair: (typeof pairs)[number]) => number): number => median(pairs.map(read));
  const told = (one: 'subject' | 'floor'): string =>
    `${of((pair) => pair[one].cpuUs).toFixed(0)} µs of processor (${of((pair) => pair[one].wallUs).toFixed(0)} µs on the clock)`;
  return {
    goal: 'H1',
    name: '/v1/action with validation, no effects',
    ratio: of((pair) => pair.floor.cpuUs / pair.subject.cpuUs),
    floor: 'a bare node:http echo; at least 0.7',
    unit: 'rate of the floor',
    detail: `${told('subject')} against ${told('floor')} a request`,
  };
}

async function measured(port: number, file: string): Promise<Measured> {
  const args = [LOAD, String(port), String(CONNECTIONS), String(REQUESTS), file];
  const before = process.cpuUsage();
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const { user, system } = process.cpuUsage(before);
  const { ms } = JSON.parse(stdout) as { readonly ms: number };
  return { cpuUs: (user + system) / REQUESTS, wallUs: (ms * 1_000) / REQUESTS };
}

/** Everything that is not the road of a request. */
function dispatchOptions(sessions: DispatchOptions['sessions']): DispatchOptions {
  const settled = { verdict: { status: 'succeeded', action: 'message.post', outcome: {
    eventId: '3'.repeat(64), kind: 9, createdAt: 1_700_000_000n } }, replayed: false };
  return {
    sessions,
    log: silentLog,
    journal: { run: () => Promise.resolve(settled) },
    agentOf: () => ({
      namespace: PRINCIPAL, identity: { owner: PRINCIPAL.owner }, permits: () => true,
      memory: { reopen: (_: string, verdict: unknown) => verdict },
      begin: () => ({ settled: () => undefined, end: () => undefined }),
    }),
  } as unknown as DispatchOptions; // stands in for the journal and the relay, of which nothing else is asked
}

function requestBytes(): Uint8Array {
  const writing = writeUntypedRequest({ requestId: 'r-1', action: 'message.post', args: { channelId: CHANNEL, content: 'x'.repeat(200) } });
  if (!writing.ok) throw new TypeError(writing.detail);
  return writing.bytes;
}

function headOf(token: string, port: number, length: number): string {
  return [
    'POST /v1/action HTTP/1.1', `Host: localhost:${port}`, `Authorization: Bearer ${token}`, 'Content-Type: application/json',
    `Content-Length: ${length}`, '', '',
  ].join('\r\n');
}

async function echo(): Promise<Server> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
      response.end(body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('expected a TCP address');
  return address.port;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? NaN;
}
