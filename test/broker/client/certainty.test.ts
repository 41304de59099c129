/** What is not known stays not known: a later refusal disproves nothing (NIP-BA "Result"). */
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { ERROR_CODES } from '../../../src/broker/wire/index.ts';
import { CHANNEL } from '../people.ts';
import { clientOf, endpoint, failedWith, plain, posted, reset, truncated, unknownOutcome } from './endpoint.ts';
import type { Answer } from './endpoint.ts';

const POST = { channelId: CHANNEL, content: 'hello' } as const;

async function uncertainAfter(...answers: readonly [Answer, ...Answer[]]): Promise<unknown> {
  const { url } = await endpoint(...answers);
  const result = await clientOf(url).call('message.post', POST);
  return 'uncertain' in result ? result.uncertain : result.status;
}

describe('a refusal', () => {
  it.each(ERROR_CODES.failed)('%s is certain when it answers the only attempt', async (code) => {
    expect(await uncertainAfter(failedWith(code))).toBe(false);
  });

  it.each(ERROR_CODES.failed)('%s is uncertain after an attempt that may have been executed', async (code) => {
    for (const before of [reset, truncated, plain(503), posted(200, { requestId: 'another' })]) {
      expect(await uncertainAfter(before, failedWith(code))).toBe(true);
    }
  });

  it('that is the stored result of this request settles it; a conflict and a lost credential never do', async () => {
    const replayed = { replayed: true };
    for (const code of ['action_failed', 'internal', 'unauthorized']) {
      expect(await uncertainAfter(reset, failedWith(code, replayed))).toBe(false);
    }
    for (const code of ['request_id_conflict', 'unauthenticated']) {
      expect(await uncertainAfter(reset, failedWith(code, replayed))).toBe(true);
    }
    expect(await uncertainAfter(reset, failedWith('action_failed', { replayed: false }))).toBe(true);
  });

  it('is certain where nobody was reached before', async () => {
    const port = await freePort();
    const client = clientOf(`http://127.0.0.1:${port}`, { limits: { maxAttempts: 3 } });
    const frozen = client.freeze('message.post', POST);
    if (frozen.status === 'refused') return expect.fail(frozen.detail);
    expect(await client.send(frozen)).toMatchObject({
      status: 'transport', reason: 'unreachable', detail: 'ECONNREFUSED', attempts: 3, uncertain: false,
    });
  });
});

describe('uncertainty', () => {
  it('is kept from one sending of a frozen request to the next, and ends with success', async () => {
    const answers: Answer[] = [plain(404), failedWith('unauthenticated'), unknownOutcome, failedWith('unauthorized')];
    const { url, received } = await endpoint(plain(404), ...answers.slice(1), posted(), failedWith('unauthorized'));
    const client = clientOf(url);
    const frozen = client.freeze('message.post', POST);
    if (frozen.status === 'refused') return expect.fail(frozen.detail);
    expect(await client.send(frozen)).toMatchObject({ status: 'transport', uncertain: true });
    expect(await client.send(frozen)).toMatchObject({ status: 'failed', uncertain: true });
    expect(await client.send(frozen)).toMatchObject({ status: 'indeterminate', uncertain: true });
    expect(await client.send(frozen)).toMatchObject({ status: 'failed', uncertain: true });
    expect(await client.send(frozen)).toMatchObject({ status: 'succeeded' });
    expect(new Set(received.map(({ text }) => text)).size).toBe(1);
  });

  it('of an earlier program is the caller to tell of', async () => {
    const { url } = await endpoint(failedWith('unauthorized'));
    const again = { requestId: 'from-before', sentBefore: true };
    expect(await clientOf(url).call('message.post', POST, again)).toMatchObject({ status: 'failed', uncertain: true });
    expect(await clientOf(url).call('message.post', POST, { requestId: 'from-before' })).toMatchObject({
      status: 'failed', uncertain: false,
    });
  });

  it('never comes from a request of another client', async () => {
    const { url } = await endpoint(posted());
    const frozen = clientOf(url).freeze('message.post', POST);
    if (frozen.status === 'refused') return expect.fail(frozen.detail);
    await expect(clientOf(url).send(frozen)).rejects.toThrow(TypeError);
    expect(Object.isFrozen(frozen)).toBe(true);
  });
});

/** A port that nobody listens on. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
