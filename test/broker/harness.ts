/** A whole broker on a relay in memory and a real database, and clients that speak HTTP to it. */
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openBroker } from '../../src/broker/index.ts';
import type { AgentIdentity, AgentLink, Broker, BrokerOptions } from '../../src/broker/index.ts';
import { writeUntypedRequest } from '../../src/broker/wire/index.ts';
import { silentLog } from '../../src/model/index.ts';
import { systemRandom } from '../../src/system/index.ts';
import { HeldClock } from './clock.ts';
import { FakeRelay, RELAY_URL } from './fake-relay.ts';
import { AGENT, CHANNEL, OWNER } from './people.ts';
import type { Person } from './people.ts';
import { openStore } from './temp-store.ts';
import { temporaryDirectory } from '../setup/temp.ts';

export interface Bench {
  readonly broker: Broker;
  readonly link: AgentLink;
  readonly relay: FakeRelay;
  readonly clock: HeldClock;
}

export function identity(agent: Person = AGENT, changes: Partial<AgentIdentity> = {}): AgentIdentity {
  const { pubkey, secretKey } = agent;
  return { name: 'worker', pubkey, secretKey, owner: OWNER.pubkey, subscribe: 'mentions', ...changes };
}

export async function bench(
  options: Partial<BrokerOptions> & { relay?: FakeRelay; clock?: HeldClock } = {},
): Promise<Bench> {
  const { relay = new FakeRelay(), clock = new HeldClock(), ...rest } = options;
  const broker = await openBroker({
    relayUrl: RELAY_URL,
    identities: [identity()],
    store: rest.store ?? openStore(),
    clock,
    steadyClock: clock,
    random: systemRandom,
    log: silentLog,
    keyDirectory: join(temporaryDirectory(), 'agents'),
    openUpstream: relay.open,
    openRelaySelf: () => ({ key: () => Promise.resolve(undefined), close: () => {} }),
    ...rest,
  });
  onTestFinished(() => end(broker, clock));
  return { broker, link: broker.link(rest.identities?.[0]?.pubkey ?? AGENT.pubkey), relay, clock };
}

/** Closes it without grace; the held clock is pushed until every bounded wait is over. */
export async function end(broker: Broker, clock: HeldClock): Promise<void> {
  const closing = broker.close(0);
  const over = closing.then(() => true);
  while (!(await Promise.race([over, soon()]))) clock.push(1_000);
  await closing;
}

/** False, after the loop has had a turn. */
function soon(): Promise<boolean> {
  return new Promise((resolve) => setImmediate(resolve, false));
}

/** The bytes of a request, once; every retry sends these. */
export function requestBytes(
  requestId: string,
  action = 'message.post',
  args: unknown = { channelId: CHANNEL, content: 'hello' },
): Uint8Array {
  const writing = writeUntypedRequest({ requestId, action, args });
  if (!writing.ok) throw new TypeError(writing.detail);
  return writing.bytes;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly result: Result;
}

/** A result as far as the tests look at it. */
export interface Result {
  readonly requestId?: string;
  readonly status?: string;
  readonly replayed?: boolean;
  readonly outcome?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: string; readonly message: string };
}

export async function post(
  endpoint: string,
  token: string | undefined,
  body: Uint8Array | string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answered> {
  const response = await fetch(`${endpoint}/v1/action`, {
    method: 'POST',
    body: typeof body === 'string' ? body : Buffer.from(body),
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, result: resultOf(text) };
}

function resultOf(text: string): Result {
  try {
    return JSON.parse(text) as Result; // checked by the wire's own tests
  } catch {
    return {};
  }
}

/** `succeeded`, or status and code, or the HTTP status where there is no verdict. */
export function told({ status, result }: Answered): string {
  if (result.status === undefined) return `HTTP ${status}`;
  const name = result.error === undefined ? result.status : `${result.status}/${result.error.code}`;
  return result.replayed === true ? `${name}, replayed` : name;
}

/** A connection that says exactly `text`, and then `more` as it likes. */
export async function rawly(
  endpoint: string,
  text: string,
): Promise<{ readonly socket: Socket; readonly answer: Promise<string> }> {
  const { port, hostname } = new URL(endpoint);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('utf8')));
  socket.on('error', () => {});
  const answer = new Promise<string>((resolve) =>
    socket.on('close', () => {
      resolve(received);
    }),
  );
  await new Promise<void>((resolve) => socket.on('connect', resolve));
  socket.write(text);
  return { socket, answer };
}
