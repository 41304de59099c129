/** The identical bytes, sent until there is a verdict or patience ends; and what is a verdict. */
import { describe, expect, it } from 'vitest';
import { HeldClock } from '../clock.ts';
import { CHANNEL } from '../people.ts';
import {
  clientOf,
  CREDENTIAL,
  endpoint,
  failedWith,
  plain,
  posted,
  reset,
  silence,
  truncated,
  unknownOutcome,
  verdict,
} from './endpoint.ts';

const POST = { channelId: CHANNEL, content: 'hello' } as const;

describe('a call', () => {
  it('sends one valid request with its credential, and gives the verdict', async () => {
    const { url, received } = await endpoint(posted());
    const result = await clientOf(url).call('message.post', { ...POST, channelId: `{${CHANNEL.toUpperCase()}}` });
    expect(result).toMatchObject({
      status: 'succeeded', action: 'message.post', replayed: false, outcome: { kind: 9, createdAt: 1_760_000_000n },
    });
    expect(received).toHaveLength(1);
    const [{ method, headers, text, requestId, url: path } = expect.fail('nothing was sent')] = received;
    expect([method, path]).toEqual(['POST', '/v1/action']);
    expect(headers).toMatchObject({ 'authorization': `Bearer ${CREDENTIAL}`, 'content-type': 'application/json' });
    expect(requestId).toMatch(/^[\w-]{22}$/);
    expect(JSON.parse(text)).toEqual({
      type: 'broker_request', protocolVersion: 1, requestId, actionVersion: 1, action: 'message.post', args: POST,
    });
  });

  it('sends nothing that is not valid', async () => {
    const { url, received } = await endpoint(posted());
    const client = clientOf(url);
    expect(await client.call('message.post', { ...POST, content: ' ' })).toMatchObject({
      status: 'refused', code: 'invalid_request',
    });
    expect(await client.call('message.post', { ...POST, mentions: [] })).toMatchObject({ status: 'refused' });
    expect(await client.call('message.post', POST, { requestId: 'a b' })).toMatchObject({ status: 'refused' });
    // What a caller in JavaScript may give: it would be sent as the number that it is.
    expect(await client.call('message.post', POST, { requestId: 5 as never })).toMatchObject({ status: 'refused', code: 'invalid_request' });
    expect(await client.callUntyped(5 as never, {})).toMatchObject({ status: 'refused', code: 'invalid_request' });
    expect(await client.callUntyped(undefined as never, {})).toMatchObject({ status: 'refused', code: 'invalid_request' });
    expect(await client.callUntyped('sign', {})).toMatchObject({ status: 'refused', code: 'unknown_action' });
    expect(received).toEqual([]);
  });

  it.each([NaN, -1, Infinity, 2 ** 31, '5' as never, undefined as never])('takes no limit of %s: a call would reject, or never end', (attemptTimeoutMs) => {
    expect(() => clientOf('http://127.0.0.1:1', { limits: { attemptTimeoutMs } })).toThrow(/^limits\.attemptTimeoutMs: expected a number from 0 to 2147483647$/);
  });

  it('takes no limit of no calls at once: none would ever end', () => {
    expect(() => clientOf('http://127.0.0.1:1', { limits: { maxConcurrent: 0 } })).toThrow(/^limits\.maxConcurrent: expected a number from 1 to 2147483647$/);
  });

  it('gives each operation an id of its own', async () => {
    const { url, received } = await endpoint(posted());
    const client = clientOf(url);
    await Promise.all(Array.from({ length: 20 }, () => client.call('message.post', POST)));
    expect(new Set(received.map(({ requestId }) => requestId)).size).toBe(20);
  });
});

describe('retries', () => {
  it('send the identical bytes after a reset, a cut answer, an error of a proxy and a foreign verdict', async () => {
    const foreign = posted(200, { requestId: 'another' });
    const { url, received } = await endpoint(reset, truncated, plain(503), foreign, plain(502), posted());
    const result = await clientOf(url).call('message.post', POST, { requestId: 'mine' });
    expect(result).toMatchObject({ status: 'succeeded', requestId: 'mine' });
    expect(received).toHaveLength(6);
    expect(new Set(received.map(({ text }) => text)).size).toBe(1);
  });

  it('end after six attempts, and the failure says what the last was', async () => {
    const { url, received } = await endpoint(plain(503));
    const result = await clientOf(url).call('message.post', POST);
    expect(result).toMatchObject({ status: 'transport', reason: 'http', attempts: 6, uncertain: true });
    expect(result).toMatchObject({ detail: 'HTTP 503 without a valid result' });
    expect(received).toHaveLength(6);
  });

  it('are not made where the answer would be the same', async () => {
    for (const status of [301, 307, 308, 400, 401, 403, 404, 405, 413, 415, 431]) {
      const { url, received } = await endpoint(plain(status));
      expect(await clientOf(url).call('message.post', POST)).toMatchObject({
        status: 'transport', reason: status < 400 ? 'redirect' : 'http', attempts: 1, uncertain: true,
      });
      expect(received).toHaveLength(1);
    }
    for (const status of [408, 425, 429, 500, 504]) {
      const { url, received } = await endpoint(plain(status), posted());
      expect(await clientOf(url).call('message.post', POST)).toMatchObject({ status: 'succeeded' });
      expect(received).toHaveLength(2);
    }
  });

  it('are not made after a verdict, whatever it says', async () => {
    for (const answer of [failedWith('internal'), failedWith('unauthenticated'), unknownOutcome]) {
      const { url, received } = await endpoint(answer);
      await clientOf(url).call('message.post', POST);
      expect(received).toHaveLength(1);
    }
  });

  it('pause half to the whole of a time that doubles up to a bound', async () => {
    const clock = new HeldClock();
    const limits = { firstPauseMs: 1_000, longestPauseMs: 4_000, attemptTimeoutMs: 60_000 };
    const { url, received } = await endpoint(plain(503));
    const calling = clientOf(url, { clock, limits }).call('message.post', POST);
    for (const [sent, longest] of [[1, 1_000], [2, 2_000], [3, 4_000], [4, 4_000], [5, 4_000]] as const) {
      await clock.armed(longest);
      expect(received).toHaveLength(sent);
      clock.push(longest / 2 - 1);
      expect(clock.alarms).toBe(1);
      clock.push(longest / 2 + 1);
    }
    expect(await calling).toMatchObject({ status: 'transport', attempts: 6 });
    expect(clock.alarms).toBe(0);
  });

  it('end with the time of the call', async () => {
    const clock = new HeldClock();
    const { url, received } = await endpoint(silence);
    const limits = { attemptTimeoutMs: 30_000, callTimeoutMs: 50_000 };
    const calling = clientOf(url, { clock, limits }).call('message.post', POST);
    await until(() => received.length === 1);
    clock.push(30_000);
    await clock.armed(1);
    clock.push(1);
    await until(() => received.length === 2);
    clock.push(19_999);
    expect(await calling).toMatchObject({ status: 'transport', reason: 'timeout', attempts: 2, uncertain: true });
    expect(clock.alarms).toBe(0);
  });
});

describe('an answer', () => {
  it('is a verdict whatever its HTTP status, when it is valid and correlated', async () => {
    for (const status of [200, 201, 307, 400, 401, 404, 500, 503]) {
      const { url } = await endpoint(posted(status));
      expect(await clientOf(url).call('message.post', POST)).toMatchObject({ status: 'succeeded' });
    }
  });

  it('is none when anything of it does not answer the request', async () => {
    for (const more of [{ requestId: 'x' }, { action: 'message.reply' }, { owner: 1 }, { outcome: {} }]) {
      const { url } = await endpoint(posted(200, more));
      expect(await clientOf(url, { limits: { maxAttempts: 2 } }).call('message.post', POST)).toMatchObject({
        status: 'transport', reason: 'invalid_result', attempts: 2, uncertain: true,
      });
    }
  });

  it('is read up to a bound, and not asked for again beyond it', async () => {
    const limits = { maxResponseBytes: 10_000 };
    const { url, received } = await endpoint((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.on('error', () => undefined);
      const pour = (): void => {
        while (!response.destroyed && response.write('x'.repeat(5_000)));
        if (!response.destroyed) response.once('drain', pour);
      };
      pour();
    });
    expect(await clientOf(url, { limits }).call('message.post', POST)).toMatchObject({
      status: 'transport', reason: 'too_large', attempts: 1, uncertain: true,
    });
    expect(received).toHaveLength(1);
  });

  it('that never ends is a timeout', async () => {
    const clock = new HeldClock();
    const { url, received } = await endpoint((response) => {
      response.writeHead(200);
      response.write('{');
    });
    const calling = clientOf(url, { clock, limits: { maxAttempts: 1 } }).call('message.post', POST);
    await until(() => received.length === 1);
    clock.push(30_000);
    expect(await calling).toMatchObject({ reason: 'timeout', uncertain: true });
  });

  it('may tell a result again', async () => {
    const { url } = await endpoint(posted(200, { replayed: true }));
    expect(await clientOf(url).call('message.post', POST)).toMatchObject({ status: 'succeeded', replayed: true });
  });
});

describe('calls at once', () => {
  it('are so many, then wait, then are too many', async () => {
    const held: (() => void)[] = [];
    const { url, received } = await endpoint((response, one) => {
      held.push(() => { posted()(response, one); });
    });
    const client = clientOf(url, { limits: { maxConcurrent: 2, maxWaiting: 1 } });
    const three = [1, 2, 3].map((number) => client.call('message.post', POST, { requestId: `r-${number}` }));
    expect(await client.call('message.post', POST)).toMatchObject({
      status: 'transport', reason: 'overloaded', attempts: 0, uncertain: false,
    });
    await until(() => held.length === 2);
    expect(received.map(({ requestId }) => requestId).sort()).toEqual(['r-1', 'r-2']);
    for (const answer of held.splice(0)) answer();
    await until(() => held.length === 1);
    held[0]?.();
    expect((await Promise.all(three)).map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded']);
  });

  it('end when they are aborted or the client is closed, in any place', async () => {
    const { url, received } = await endpoint(silence);
    const client = clientOf(url, { limits: { maxConcurrent: 1 } });
    const [first, second] = [new AbortController(), new AbortController()];
    const underWay = client.call('message.post', POST, { signal: first.signal });
    const waiting = client.call('message.post', POST, { signal: second.signal });
    const last = client.call('message.post', POST);
    await until(() => received.length === 1);
    second.abort();
    expect(await waiting).toMatchObject({ reason: 'aborted', attempts: 0, uncertain: false });
    first.abort();
    expect(await underWay).toMatchObject({ reason: 'aborted', attempts: 1, uncertain: true });
    await until(() => received.length === 2);
    client.close();
    client.close();
    expect(await last).toMatchObject({ reason: 'closed', attempts: 1, uncertain: true });
    expect(await client.call('message.post', POST)).toMatchObject({ reason: 'closed', attempts: 0, uncertain: false });
    expect(received).toHaveLength(2);
  });

  it('end in mid-pause', async () => {
    const clock = new HeldClock();
    const { url } = await endpoint(verdict({ status: 'unheard of' }));
    const client = clientOf(url, { clock, limits: { firstPauseMs: 1_000 } });
    const calling = client.call('message.post', POST);
    await clock.armed(1_000);
    client.close();
    expect(await calling).toMatchObject({ reason: 'closed', attempts: 1, uncertain: true });
    expect(clock.alarms).toBe(0);
  });
});

/** Resolves when it holds; looked at after each turn of the loop. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
