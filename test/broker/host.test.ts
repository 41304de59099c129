/** `POST /v1/action` over real HTTP: what reaches the journal, what does not, and what either is told. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Reply } from '../../src/broker/dispatch.ts';
import { openHost } from '../../src/broker/host.ts';
import type { HostLimits } from '../../src/broker/host.ts';
import { later, silentLog } from '../../src/model/index.ts';
import type { VerifiedEvent } from '../../src/nostr/index.ts';
import { sql } from '../../src/store/index.ts';
import type { Store } from '../../src/store/index.ts';
import { systemClock } from '../../src/system/index.ts';
import { bench, identity, post, rawly, requestBytes, told } from './harness.ts';
import { AGENT, CHANNEL, ELSEWHERE, SIBLING, START_SEC, STRANGER } from './people.ts';
import { openStore } from './temp-store.ts';

const BYTES = requestBytes('r-1');

type Handler = (body: Uint8Array) => Promise<Reply>;

async function recorded(store: Store): Promise<number> {
  return (await store.read(sql('SELECT id FROM journal'))).length;
}

describe('a request that is no request of ours', () => {
  async function refused(head: (authority: string) => string): Promise<string> {
    const store = openStore();
    const { broker, link } = await bench({ store });
    const { token } = link.openSession();
    const text = head(new URL(broker.endpoint).host).replaceAll('\n', '\r\n').replace('TOKEN', token);
    const body = Buffer.from(BYTES).toString('utf8');
    const { answer } = await rawly(
      broker.endpoint,
      `${text}\r\ncontent-length: ${BYTES.length}\r\nconnection: close\r\n\r\n${body}`,
    );
    const line = (await answer).split('\r\n')[0] ?? '';
    return `${line.split(' ')[1] ?? 'cut'}, ${await recorded(store)} recorded`;
  }

  /** The head of a request as ours are, but for what is changed; a header that is undefined is left out. */
  function headOf(start: string, changed: Readonly<Record<string, string | undefined>>): (own: string) => string {
    return (own) => {
      const ours = { host: own, 'content-type': 'application/json', authorization: 'Bearer TOKEN' };
      const headers: Readonly<Record<string, string | undefined>> = { ...ours, ...changed };
      const sent = Object.entries(headers).filter(([, value]) => value !== undefined);
      const lines = sent.map(([name, value = '']) => `${name}: ${value}`);
      return [start, ...lines].join('\n').replaceAll('OWN', own).replaceAll('PORT', own.split(':')[1] ?? '');
    };
  }

  const POST = 'POST /v1/action HTTP/1.1';

  it.each([
    ['the control: our own', headOf(POST, {}), '200, 1 recorded'],
    ['localhost for the address', headOf(POST, { host: 'localhost:PORT' }), '200, 1 recorded'],
    ['our own origin', headOf(POST, { origin: 'http://OWN' }), '200, 1 recorded'],
    ['a charset that is ours', headOf(POST, { 'content-type': 'application/json; charset=UTF-8' }), '200, 1 recorded'],
    ['a foreign host', headOf(POST, { host: 'evil.example' }), '403, 0 recorded'],
    ['a host with another port', headOf(POST, { host: '127.0.0.1:1' }), '403, 0 recorded'],
    ['a host that begins like ours', headOf(POST, { host: 'localhost:PORT.evil.example' }), '403, 0 recorded'],
    ['a name that begins like ours', headOf(POST, { host: 'localhost.evil.example:PORT' }), '403, 0 recorded'],
    ['no host', headOf(POST, { host: undefined }), '400, 0 recorded'],
    ['no host, the old way', headOf('POST /v1/action HTTP/1.0', { host: undefined }), '403, 0 recorded'],
    ['a target elsewhere', headOf('POST http://evil.example/v1/action HTTP/1.1', { host: 'evil' }), '403, 0 recorded'],
    ['a target elsewhere, and our host', headOf('POST http://evil.example/v1/action HTTP/1.1', {}), '403, 0 recorded'],
    ['a target on another port', headOf('POST http://127.0.0.1:1/v1/action HTTP/1.1', {}), '403, 0 recorded'],
    ['a target with a user', headOf('POST http://evil@OWN/v1/action HTTP/1.1', {}), '403, 0 recorded'],
    ['a target of another scheme', headOf('POST https://OWN/v1/action HTTP/1.1', {}), '403, 0 recorded'],
    ['a target that is no URL', headOf('POST OWN/v1/action HTTP/1.1', {}), '400, 0 recorded'],
    ['a target without an authority', headOf('POST http:///v1/action HTTP/1.1', {}), '403, 0 recorded'],
    ['two slashes, which are a path', headOf('POST //evil.example/v1/action HTTP/1.1', {}), '404, 0 recorded'],
    ['our own target in full', headOf('POST http://OWN/v1/action HTTP/1.1', {}), '200, 1 recorded'],
    ['our own target in full, in capitals', headOf('POST http://LOCALHOST:PORT/v1/action HTTP/1.1', {}), '200, 1 recorded'],
    ['our name in capitals', headOf(POST, { host: 'LocalHost:PORT' }), '200, 1 recorded'],
    ['two hosts, the first ours', headOf(POST, { host: 'OWN\nHost: evil.example' }), '403, 0 recorded'],
    ['two hosts, both ours', headOf(POST, { host: 'OWN\nHost: OWN' }), '403, 0 recorded'],
    ['two hosts in one line', headOf(POST, { host: 'OWN, evil.example' }), '403, 0 recorded'],
    ['a host with a dot at its end', headOf(POST, { host: 'localhost.:PORT' }), '403, 0 recorded'],
    ['a host with a user', headOf(POST, { host: 'me@OWN' }), '403, 0 recorded'],
    ['a host without its port', headOf(POST, { host: '127.0.0.1' }), '403, 0 recorded'],
    ['a host with an empty port', headOf(POST, { host: '127.0.0.1:' }), '403, 0 recorded'],
    ['a host with a port that begins with 0', headOf(POST, { host: '127.0.0.1:0PORT' }), '403, 0 recorded'],
    ['an empty host', headOf(POST, { host: '' }), '403, 0 recorded'],
    ['the old way, our host', headOf('POST /v1/action HTTP/1.0', {}), '200, 1 recorded'],
    ['a foreign origin', headOf(POST, { origin: 'http://evil.example' }), '403, 0 recorded'],
    ['an origin that begins like ours', headOf(POST, { origin: 'http://OWN.evil.example' }), '403, 0 recorded'],
    ['an opaque origin', headOf(POST, { origin: 'null' }), '403, 0 recorded'],
    ['text', headOf(POST, { 'content-type': 'text/plain' }), '415, 0 recorded'],
    ['no content type', headOf(POST, { 'content-type': undefined }), '415, 0 recorded'],
    ['another charset', headOf(POST, { 'content-type': 'application/json; charset=latin1' }), '415, 0 recorded'],
    ['a compressed body', headOf(POST, { 'content-encoding': 'gzip' }), '415, 0 recorded'],
    ['another method', headOf('PUT /v1/action HTTP/1.1', {}), '405, 0 recorded'],
    ['a preflight', headOf('OPTIONS /v1/action HTTP/1.1', { origin: 'http://evil.example' }), '403, 0 recorded'],
    ['another path', headOf('POST /v1/actions HTTP/1.1', {}), '404, 0 recorded'],
    ['no token: a verdict, nothing recorded', headOf(POST, { authorization: undefined }), '200, 0 recorded'],
  ])('%s', async (_, head, expected) => {
    expect(await refused(head)).toBe(expected);
  });

  it('is given no CORS headers', async () => {
    const { broker, link } = await bench();
    const { headers } = await post(broker.endpoint, link.openSession().token, BYTES);
    expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect(headers.get('content-type')).toBe('application/json');
  });
});

describe('a credential', () => {
  it.each([
    ['none', () => ({})],
    ['another scheme', (token: string) => ({ authorization: `Basic ${token}` })],
    ['an unknown token', () => ({ authorization: `Bearer ${'A'.repeat(43)}` })],
    ['a token and more', (token: string) => ({ authorization: `Bearer ${token} x` })],
    ['a token cut short', (token: string) => ({ authorization: `Bearer ${token.slice(1)}` })],
  ])('%s: unauthenticated, with the request id, and nothing recorded', async (_, headers) => {
    const store = openStore();
    const { broker, link } = await bench({ store });
    const answered = await post(broker.endpoint, undefined, BYTES, headers(link.openSession().token));
    expect(told(answered)).toBe('failed/unauthenticated');
    expect(answered.status).toBe(200);
    expect(answered.result.requestId).toBe('r-1');
    expect(await recorded(store)).toBe(0);
  });

  it('comes before every word about the request', async () => {
    const { broker } = await bench();
    const unknown = Buffer.from(BYTES).toString('utf8').replace('message.post', 'message.send');
    expect(told(await post(broker.endpoint, undefined, unknown))).toBe('failed/unauthenticated');
  });

  it('that is revoked gets nothing any more, not even what is stored', async () => {
    const { broker, link } = await bench();
    const { sessionId, token } = link.openSession();
    expect(told(await post(broker.endpoint, token, BYTES))).toBe('succeeded');
    link.closeSession(sessionId);
    expect(told(await post(broker.endpoint, token, BYTES))).toBe('failed/unauthenticated');
    expect(told(await post(broker.endpoint, link.openSession().token, BYTES))).toBe('succeeded, replayed');
  });

  it('that is revoked while its message is on the way is told neither success nor failure', async () => {
    const { broker, link, relay } = await bench();
    relay.answers.push('hold');
    const { sessionId, token } = link.openSession();
    const answered = post(broker.endpoint, token, BYTES);
    await relay.sends(1);
    link.closeSession(sessionId);
    relay.release();
    expect(told(await answered)).toBe('indeterminate/outcome_unknown');
    expect(told(await post(broker.endpoint, link.openSession().token, BYTES))).toBe('succeeded, replayed');
  });

  it('that is revoked while the parent is read sends nothing', async () => {
    const { broker, link, relay } = await bench();
    const parent = SIBLING.sign({ tags: [['h', CHANNEL]] });
    relay.keep(parent);
    const { sessionId, token } = link.openSession();
    const args = { channelId: CHANNEL, content: 'hello', replyToEventId: parent.id };
    const before = relay.asked.length;
    const answered = post(broker.endpoint, token, requestBytes('r-2', 'message.reply', args));
    await relay.questions(before + 1);
    link.closeSession(sessionId);
    expect(told(await answered)).toBe('failed/unauthenticated');
    expect(relay.sent).toEqual([]);
  });

  it('gets no stored page of a channel that its agent has left, and gets it back with the membership', async () => {
    const { broker, link, relay } = await bench();
    link.follow(() => Promise.resolve());
    const told44 = (kind: number, createdAtSec: number): VerifiedEvent =>
      STRANGER.sign({ kind, createdAtSec, tags: [['p', AGENT.pubkey], ['h', CHANNEL]] });
    const added = told44(44_100, START_SEC);
    const notices = await relay.subscribedTo(added);
    await notices.onEvent(added, true);
    const { token } = link.openSession();
    const page = requestBytes('r-1', 'channel.read', { channelId: CHANNEL });
    // Until the first answers are complete the relay decides.
    const elsewhere = (id: string): Uint8Array => requestBytes(id, 'channel.read', { channelId: ELSEWHERE });
    expect(told(await post(broker.endpoint, token, elsewhere('r-2')))).toBe('succeeded');
    await notices.onEose?.();
    await relay.subscriptions.get('members')?.onEose?.();
    await relay.subscribedTo(STRANGER.sign({ tags: [['h', CHANNEL], ['p', AGENT.pubkey]] }));
    expect(told(await post(broker.endpoint, token, page))).toBe('succeeded');
    expect(told(await post(broker.endpoint, token, page))).toBe('succeeded, replayed');
    expect(told(await post(broker.endpoint, token, elsewhere('r-2')))).toBe('failed/unauthorized');
    await notices.onEvent(told44(44_101, START_SEC + 1), false);
    expect(told(await post(broker.endpoint, token, page))).toBe('failed/unauthorized');
    await notices.onEvent(told44(44_100, START_SEC + 2), false);
    expect(told(await post(broker.endpoint, token, page))).toBe('succeeded, replayed');
  });

  it('whose agent leaves the channel while the parent is read sends nothing', async () => {
    const { broker, link, relay } = await bench();
    link.follow(() => Promise.resolve());
    const told44 = (kind: number, createdAtSec: number): VerifiedEvent =>
      STRANGER.sign({ kind, createdAtSec, tags: [['p', AGENT.pubkey], ['h', CHANNEL]] });
    const notices = await relay.subscribedTo(told44(44_100, START_SEC));
    await notices.onEvent(told44(44_100, START_SEC), true);
    await notices.onEose?.();
    await relay.subscriptions.get('members')?.onEose?.();
    const parent = SIBLING.sign({ tags: [['h', CHANNEL]] });
    relay.keep(parent);
    const args = { channelId: CHANNEL, content: 'hello', replyToEventId: parent.id };
    const before = relay.asked.length;
    const { token } = link.openSession();
    const answered = post(broker.endpoint, token, requestBytes('r-2', 'message.reply', args));
    await relay.questions(before + 1);
    await notices.onEvent(told44(44_101, START_SEC + 1), false);
    expect(told(await answered)).toBe('failed/unauthorized');
    expect(relay.sent).toEqual([]);
  });

  it("is a principal's: its sessions are one namespace, another principal's another", async () => {
    const identities = [identity(), identity(SIBLING, { name: 'sibling' })];
    const { broker, link, relay } = await bench({ identities });
    const sibling = broker.link(SIBLING.pubkey);
    expect(told(await post(broker.endpoint, link.openSession().token, BYTES))).toBe('succeeded');
    expect(told(await post(broker.endpoint, link.openSession().token, BYTES))).toBe('succeeded, replayed');
    expect(told(await post(broker.endpoint, sibling.openSession().token, BYTES))).toBe('succeeded');
    expect(relay.sent.map(({ pubkey }) => pubkey)).toEqual([AGENT.pubkey, SIBLING.pubkey]);
  });
});

describe('a verdict', () => {
  it('of each sort is HTTP 200 with the request id', async () => {
    const { broker, link } = await bench({ identities: [identity(AGENT, { channels: [CHANNEL] })] });
    const { token } = link.openSession();
    const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
    const cases: readonly (readonly [string | Uint8Array, string])[] = [
      [BYTES, 'succeeded'],
      [BYTES, 'succeeded, replayed'],
      [requestBytes('r-1', 'message.post', { channelId: CHANNEL, content: 'other' }), 'failed/request_id_conflict'],
      [` ${text(BYTES)}`, 'failed/request_id_conflict'],
      [text(BYTES).replace('"protocolVersion":1', '"protocolVersion":2'), 'failed/unsupported_protocol_version'],
      [text(BYTES).replace('"actionVersion":1', '"actionVersion":2'), 'failed/unsupported_action_version'],
      [text(BYTES).replace('message.post', 'sign'), 'failed/unknown_action'],
      [text(BYTES).replace('"hello"', 'null'), 'failed/invalid_request'],
      [requestBytes('r-2', 'message.post', { channelId: ELSEWHERE, content: 'x' }), 'failed/unauthorized'],
      [requestBytes('r-3', 'agents.delete', { target: { name: 'nobody' } }), 'failed/unauthorized'],
      [requestBytes('r-4', 'channel.read', { channelId: CHANNEL, cursor: 'x' }), 'failed/invalid_request'],
      [
        requestBytes('r-5', 'message.reply', { channelId: CHANNEL, content: 'x', replyToEventId: 'e'.repeat(64) }),
        'failed/action_failed',
      ],
    ];
    for (const [body, expected] of cases) {
      const answered = await post(broker.endpoint, token, body);
      expect([answered.status, told(answered)]).toEqual([200, expected]);
      expect(answered.result.requestId).toMatch(/^r-\d$/);
    }
  });

  it('replays byte for byte but for its mark', async () => {
    const { broker, link } = await bench();
    const { token } = link.openSession();
    const first = await post(broker.endpoint, token, BYTES);
    const [second, third] = [await post(broker.endpoint, token, BYTES), await post(broker.endpoint, token, BYTES)];
    expect(second.text.replace('"replayed":true,', '')).toBe(first.text);
    expect(third.text).toBe(second.text);
  });

  it('is not possible without a request id: HTTP 400, nothing recorded', async () => {
    const store = openStore();
    const { broker, link } = await bench({ store });
    const { token } = link.openSession();
    for (const body of [
      '',
      '{',
      '[]',
      '{"requestId":""}',
      '{"requestId":"a b"}',
      '{"requestId":"a","requestId":"a"}',
      '\ufeff{}',
    ]) {
      const answered = await post(broker.endpoint, token, body);
      expect([answered.status, answered.result.status]).toEqual([400, undefined]);
    }
    expect(await recorded(store)).toBe(0);
  });

  it('of a page holds the signed events', async () => {
    const { broker, link, relay } = await bench();
    const event = SIBLING.sign({ tags: [['h', CHANNEL]], content: 'é\n' });
    relay.keep(event);
    const answered = await post(
      broker.endpoint,
      link.openSession().token,
      requestBytes('r-1', 'channel.read', { channelId: CHANNEL }),
    );
    expect(answered.result.outcome).toEqual({ messages: [event] });
  });
});

describe('limits', () => {
  it('a body that says it is too long is refused unread, one that is, at the first byte too many', async () => {
    const store = openStore();
    const { broker, link } = await bench({ store });
    const { token } = link.openSession();
    const { host } = new URL(broker.endpoint);
    const lines = ['POST /v1/action HTTP/1.1', `host: ${host}`, 'content-type: application/json', ''];
    const head = lines.join('\r\n') + `authorization: Bearer ${token}\r\n`;
    const said = await rawly(broker.endpoint, `${head}content-length: 524289\r\n\r\n`);
    expect(await said.answer).toContain('HTTP/1.1 413');
    const chunked = await rawly(
      broker.endpoint,
      `${head}transfer-encoding: chunked\r\n\r\n80001\r\n${'x'.repeat(0x80001)}\r\n`,
    );
    expect(await chunked.answer).toContain('HTTP/1.1 413');
    const fits = await post(broker.endpoint, token, Buffer.from(BYTES).toString('utf8').padEnd(524_288, ' '));
    expect(told(fits)).toBe('succeeded');
    expect(await recorded(store)).toBe(1);
  });

  const echo: Handler = (bytes) => Promise.resolve({ type: 'verdict', text: Buffer.from(bytes).toString() });

  async function echoing(limits: Partial<HostLimits>, handler = echo): Promise<string> {
    const host = await openHost({
      dispatch: (_, body) => handler(body),
      log: silentLog,
      limits,
      after: (ms, callback) => systemClock.wake(later(systemClock.now(), ms), callback),
    });
    onTestFinished(() => host.close(0));
    return host.endpoint;
  }

  it.each([
    ['ASCII', 'x'], ['Latin-1', 'é'], ['beyond Latin-1', '€ 😀'],
    ['long ASCII', 'x'.repeat(100_000)], ['long and beyond', '😀'.repeat(50_000)],
  ])('an answer of %s arrives to the byte', async (_, text) => {
    const answer = await post(await echoing({}), undefined, text);
    expect(answer.headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
    expect(answer.text).toBe(text);
  });

  it.each([
    ['its head', ''],
    ['its body', 'content-type: application/json\r\ncontent-length: 10\r\n\r\nhalf'],
  ])('a client that does not finish %s is cut off', async (_, rest) => {
    // Time enough for the whole request below, on a busy machine too.
    const endpoint = await echoing({ headersTimeoutMs: 1_000, requestTimeoutMs: 1_000 });
    const { answer } = await rawly(endpoint, `POST /v1/action HTTP/1.1\r\nhost: ${new URL(endpoint).host}\r\n${rest}`);
    expect(await answer).toContain('HTTP/1.1 408');
    expect((await post(endpoint, undefined, 'whole')).status).toBe(200);
  });

  it('a head that is too long is refused', async () => {
    const endpoint = await echoing({ maxHeaderBytes: 1_024 });
    expect((await post(endpoint, undefined, 'x', { padding: 'x'.repeat(2_000) })).status).toBe(431);
  });

  it('a request beyond what may run at once is told to come back', async () => {
    let answer = (): void => {};
    let announce = (): void => {};
    const entered = new Promise<void>((resolve) => (announce = resolve));
    const endpoint = await echoing(
      { maxRequests: 1 },
      (bytes) =>
        new Promise((resolve) => {
          announce();
          answer = () => {
            resolve({ type: 'verdict', text: Buffer.from(bytes).toString() });
          };
        }),
    );
    const first = post(endpoint, undefined, 'one');
    await entered;
    expect((await post(endpoint, undefined, 'two')).status).toBe(503);
    answer();
    expect((await first).status).toBe(200);
  });

  it('a principal has 64 actions under way, and others are not in its way', async () => {
    const identities = [identity(), identity(SIBLING, { name: 'sibling' })];
    const { broker, link, relay } = await bench({ identities });
    relay.answers.push(...(Array(64).fill('hold') as 'hold'[]));
    const { token } = link.openSession();
    const many = Array.from({ length: 64 }, (_, index) =>
      post(
        broker.endpoint,
        token,
        requestBytes(`m-${index}`, 'message.post', { channelId: CHANNEL, content: String(index) }),
      ),
    );
    await relay.sends(64);
    expect((await post(broker.endpoint, token, BYTES)).status).toBe(503);
    expect(told(await post(broker.endpoint, broker.link(SIBLING.pubkey).openSession().token, BYTES))).toBe('succeeded');
    relay.release();
    expect(new Set((await Promise.all(many)).map(told))).toEqual(new Set(['succeeded']));
    expect(told(await post(broker.endpoint, token, BYTES))).toBe('succeeded');
  });
});
