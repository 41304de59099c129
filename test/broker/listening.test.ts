/** Where the endpoint listens, and how it ends. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Failure } from '../../src/model/index.ts';
import { CERTIFICATE, KEY } from '../setup/certificate.ts';
import { bench, post, requestBytes, told } from './harness.ts';

const BYTES = requestBytes('r-1');

describe('listening', () => {
  it.each(['0.0.0.0', '::', 'localhost', '192.0.2.1', '127.0.0.2'])('on %s is refused', async (address) => {
    await expect(bench({ address })).rejects.toMatchObject({ name: 'Failure', code: 'config' });
  });

  it.each([
    ['on', {}],
    ['by TLS on', { tls: { cert: CERTIFICATE, key: KEY } }],
  ])('%s a port that is taken is a failure with a code, and leaves nothing open', async (_, options) => {
    const taken = createServer();
    taken.listen(0, '127.0.0.1');
    await once(taken, 'listening');
    onTestFinished(async () => {
      taken.close();
      await once(taken, 'close');
    });
    const address = taken.address();
    const port = address === null || typeof address === 'string' ? expect.fail('no port') : address.port;
    const failure: unknown = await bench({ ...options, port }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Failure);
    expect(failure).toMatchObject({ code: 'listen' });
  });

  it('ends with the broker, and requests under way end first', async () => {
    const { broker, link, relay } = await bench();
    relay.answers.push('hold');
    const { token } = link.openSession();
    const answered = post(broker.endpoint, token, BYTES);
    await relay.sends(1);
    const closing = broker.close(10_000);
    relay.release();
    expect(told(await answered)).toBe('succeeded');
    await closing;
    await expect(post(broker.endpoint, token, BYTES)).rejects.toThrow('fetch failed');
  });
});
