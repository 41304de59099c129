/** HTTP as no client of ours would send it: never a crash or a hang, nothing done unasked, and the connection in step. */
import { once } from 'node:events';
import { connect } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sql } from '../../src/store/index.ts';
import type { Store } from '../../src/store/index.ts';
import { bench, post, requestBytes, told } from './harness.ts';
import { openStore } from './temp-store.ts';

const BODY = Buffer.from(requestBytes('r-1')).toString('latin1');

type Headers = Readonly<Record<string, string | undefined>>;

interface Rig {
  readonly endpoint: string;
  readonly store: Store;
  readonly token: string;
  /** The head of a good request, but for what is changed; a header that is undefined is left out. */
  readonly head: (changed?: Headers, start?: string) => string;
}

async function rig(): Promise<Rig> {
  const store = openStore();
  const { broker, link } = await bench({ store });
  const { token } = link.openSession();
  const { host } = new URL(broker.endpoint);
  return {
    endpoint: broker.endpoint, store, token,
    head: (changed = {}, start = 'POST /v1/action HTTP/1.1') => {
      const headers: Headers = { 'host': host, ...LAST, 'content-type': 'application/json', 'authorization': `Bearer ${token}`, ...changed };
      const lines = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`]));
      return [start, ...lines, '', ''].join('\r\n');
    },
  };
}

/** The last request of a connection. */
const LAST = { connection: 'close' };

/** Everything that comes back until the connection is over, which the client may say, too. */
async function exchange(endpoint: string, text: string, isCut = false): Promise<string> {
  const { port, hostname } = new URL(endpoint);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  const closed = once(socket, 'close');
  socket.write(Buffer.from(text, 'latin1'));
  if (isCut) socket.end();
  await closed;
  return received;
}

async function requestIds(store: Store): Promise<readonly unknown[]> {
  return (await store.read(sql('SELECT request_id FROM journal ORDER BY id'))).map((row) => row['request_id']);
}

function statuses(received: string): readonly string[] {
  return [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status = '']) => status);
}

function sized(body: string): Record<string, string> {
  return { 'content-length': String(Buffer.byteLength(body, 'latin1')) };
}

function chunked(body: string, size: number): string {
  const chunks = body.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
  return `${chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('')}0\r\n\r\n`;
}

describe('one request', () => {
  const CHUNKED = { 'transfer-encoding': 'chunked' };
  /** Requests of which the host can only tell by the end of the connection that no more will come. */
  const UNENDED = new Set(['in chunks that do not end', 'shorter than it says', 'of HTTP/0.9']);
  type Write = (rig: Rig) => string;
  it.each<[string, Write, readonly string[], number]>([
    ['whole', ({ head }) => head(sized(BODY)) + BODY, ['200'], 1],
    ['in chunks', ({ head }) => head(CHUNKED) + chunked(BODY, 7), ['200'], 1],
    ['in chunks with extensions and a trailer', ({ head }) => `${head(CHUNKED)}${BODY.length.toString(16)};a=b\r\n${BODY}\r\n0\r\nX: y\r\n\r\n`, ['200'], 1],
    ['in chunks with a length, too', ({ head }) => head({ ...CHUNKED, ...sized(BODY) }) + chunked(BODY, 7), ['400'], 0],
    ['in chunks of no size', ({ head }) => `${head(CHUNKED)}zz\r\n${BODY}`, ['400'], 0],
    ['in chunks of a size beyond all numbers', ({ head }) => `${head(CHUNKED)}fffffffffffffffffff\r\n${BODY}`, ['400'], 0],
    ['in chunks that do not end', ({ head }) => `${head(CHUNKED)}${BODY.length.toString(16)}\r\n${BODY}\r\n`, ['400'], 0],
    ['in another coding', ({ head }) => head({ 'transfer-encoding': 'gzip' }) + BODY, ['400'], 0],
    ['in another coding, and chunks', ({ head }) => head({ 'transfer-encoding': 'gzip, chunked' }) + chunked('\x1f\x8b\x08', 7), ['400'], 0],
    ['of two lengths', ({ head }) => head({ 'content-length': `${BODY.length}\r\ncontent-length: 1` }) + BODY, ['400'], 0],
    ['of a negative length', ({ head }) => head({ 'content-length': '-1' }) + BODY, ['400'], 0],
    ['of a length with a sign', ({ head }) => head({ 'content-length': `+${BODY.length}` }) + BODY, ['400'], 0],
    ['of a length in hex', ({ head }) => head({ 'content-length': '0x10' }) + BODY, ['400'], 0],
    ['of a length beyond all numbers', ({ head }) => head({ 'content-length': '9'.repeat(30) }) + BODY, ['400'], 0],
    ['longer than it says', ({ head }) => head({ 'content-length': '10' }) + BODY, ['400'], 0],
    ['shorter than it says', ({ head }) => head({ 'content-length': String(BODY.length + 1) }) + BODY, ['400'], 0],
    ['without a length', ({ head }) => head() + BODY, ['400'], 0],
    ['that waits for leave', ({ head }) => head({ ...sized(BODY), expect: '100-continue' }) + BODY, ['100', '200'], 1],
    ['that waits for something else', ({ head }) => head({ ...sized(BODY), expect: 'the-unexpected' }) + BODY, ['417'], 0],
    ['with two credentials', ({ head, token }) => head({ ...sized(BODY), authorization: `Bearer ${token}\r\nauthorization: Bearer ${token}` }) + BODY, ['200'], 0],
    ['with two content types', ({ head }) => head({ ...sized(BODY), 'content-type': 'application/json\r\ncontent-type: application/json' }) + BODY, ['415'], 0],
    ['with an encoding', ({ head }) => head({ ...sized(BODY), 'content-encoding': 'gzip' }) + BODY, ['415'], 0],
    ['with no encoding, said so', ({ head }) => head({ ...sized(BODY), 'content-encoding': 'identity' }) + BODY, ['415'], 0],
    ['in UTF-16', ({ head }) => head({ ...sized(BODY), 'content-type': 'application/json; charset=utf-16' }) + BODY, ['415'], 0],
    ['in UTF-16, not said', ({ head }) => head(sized(BODY + BODY)) + Buffer.from(BODY, 'utf16le').toString('latin1'), ['400'], 0],
    ['to look at', ({ head }) => head({}, 'HEAD /v1/action HTTP/1.1'), ['405'], 0],
    ['for options', ({ head }) => head({}, 'OPTIONS /v1/action HTTP/1.1'), ['405'], 0],
    ['for the options of the host', ({ head }) => head({}, 'OPTIONS * HTTP/1.1'), ['403'], 0],
    ['for a tunnel', ({ head }) => head({}, 'CONNECT evil.example:443 HTTP/1.1'), [], 0],
    ['for another protocol', ({ head }) => head({ ...sized(BODY), upgrade: 'websocket', connection: 'upgrade, close' }) + BODY, ['200'], 1],
    ['with a query', ({ head }) => head(sized(BODY), 'POST /v1/action?x=1 HTTP/1.1') + BODY, ['200'], 1],
    ['with a path that says the same', ({ head }) => head(sized(BODY), 'POST /v1/./action HTTP/1.1') + BODY, ['404'], 0],
    ['with a path in other letters', ({ head }) => head(sized(BODY), 'POST /v1/%61ction HTTP/1.1') + BODY, ['404'], 0],
    ['of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', ['400'], 0],
    ['of HTTP/0.9', () => 'GET /\r\n', ['400'], 0],
    ['with a header that is folded', ({ head }) => head({ ...sized(BODY), authorization: 'Bearer\r\n x' }) + BODY, ['400'], 0],
    ['with a header with NUL', ({ head }) => head({ ...sized(BODY), authorization: 'Bearer \0' }) + BODY, ['400'], 0],
    ['with lines that end in LF', ({ head }) => head(sized(BODY)).replaceAll('\r\n', '\n') + BODY, ['400'], 0],
  ])('%s', async (name, write, expected, recorded) => {
    const one = await rig();
    expect(statuses(await exchange(one.endpoint, write(one), UNENDED.has(name)))).toEqual(expected);
    expect(await requestIds(one.store)).toHaveLength(recorded);
    expect(told(await post(one.endpoint, one.token, requestBytes('control')))).toBe('succeeded');
  });
});

describe('one connection', () => {
  const bodyOf = (id: string): string => Buffer.from(requestBytes(id)).toString('latin1');
  const KEPT = { connection: undefined };

  it('answers requests sent together, each in its turn', async () => {
    const { endpoint, head, store } = await rig();
    const ids = ['a', 'b', 'c', 'a'];
    const received = await exchange(endpoint, ids.map((id, index) => head({ ...sized(bodyOf(id)), ...(index < 3 ? KEPT : LAST) }) + bodyOf(id)).join(''));
    expect([...received.matchAll(/"requestId":"(\w)"/g)].map(([, id]) => id)).toEqual(ids);
    expect([...(await requestIds(store))].sort()).toEqual(['a', 'b', 'c']);
  });

  it.each<[string, Record<string, string>, string | undefined, string]>([
    ['a foreign host', { host: 'evil.example' }, undefined, '403'],
    ['a foreign origin', { origin: 'http://evil.example' }, undefined, '403'],
    ['another path', {}, 'POST /v2/action HTTP/1.1', '404'],
    ['another method', {}, 'PUT /v1/action HTTP/1.1', '405'],
    ['another content type', { 'content-type': 'text/plain' }, undefined, '415'],
    ['no credential', { authorization: 'x' }, undefined, '200'],
  ])('stays in step after %s, though nobody has read the body', async (_, changed, start, status) => {
    const { endpoint, head, store } = await rig();
    // What is inside is a request that would be taken for one, if it were read as what comes next.
    const inside = head({ ...sized(BODY), ...KEPT }) + BODY;
    const received = await exchange(endpoint, head({ ...sized(inside), ...KEPT, ...changed }, start) + inside + head(sized(bodyOf('next'))) + bodyOf('next'));
    expect(statuses(received)).toEqual([status === '200' ? '400' : status, '200']);
    expect(await requestIds(store)).toEqual(['next']);
  });

  it('is over after a body that is too long', async () => {
    const { endpoint, head, store } = await rig();
    const received = await exchange(endpoint, head({ 'content-length': '524289', ...KEPT }) + 'x'.repeat(524_289) + head(sized(BODY)) + BODY);
    expect(statuses(received).slice(0, 1)).toEqual(['413'].slice(0, statuses(received).length));
    expect(await requestIds(store)).toEqual([]);
  });
});

it('whatever comes in, the host lives, answers, and does only what a request with an id asked for', async () => {
  const one = await rig();
  const { head, endpoint, store } = one;
  const good = head({ ...sized(BODY), connection: undefined }) + BODY;
  expect(told(await post(endpoint, one.token, requestBytes('r-1')))).toBe('succeeded');
  const piece = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(good, head(), head(sized(BODY)), head({ 'transfer-encoding': 'chunked' }), BODY, chunked(BODY, 9), '\r\n', '\r\n\r\n', '0\r\n\r\n') },
    { weight: 2, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('latin1')) },
    { weight: 2, arbitrary: fc.tuple(fc.nat(good.length), fc.nat(20), fc.uint8Array({ maxLength: 8 })).map(([at, length, bytes]) =>
      good.slice(0, at) + Buffer.from(bytes).toString('latin1') + good.slice(at + length)) },
    { weight: 1, arbitrary: fc.constantFrom('GET / HTTP/1.1\r\n', 'POST /v1/action HTTP/1.1\r\n', 'Host: x\r\n', 'Content-Length: 5\r\n', 'Transfer-Encoding: chunked\r\n', 'Expect: 100-continue\r\n') },
  );
  await fc.assert(fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 6 }), async (pieces) => {
    const before = new Set(await requestIds(store));
    await exchange(endpoint, pieces.join(''), true);
    // A damaged body may still be a request, with an id of its own, and then that very id was sent.
    const asked = (await requestIds(store)).filter((id) => !before.has(id));
    for (const id of asked) expect(pieces.join('')).toContain(JSON.stringify(id));
  }), { numRuns: 200 });
  expect(told(await post(endpoint, one.token, requestBytes('control')))).toBe('succeeded');
}, 60_000);
