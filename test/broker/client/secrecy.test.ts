/** The credential goes to the one endpoint, in a header, and nowhere else. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { CHANNEL } from '../people.ts';
import { CERTIFICATE } from '../../setup/certificate.ts';
import { clientOf, CREDENTIAL, endpoint, plain, posted, secureEndpoint } from './endpoint.ts';

/** Where a package may name itself. */
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const POST = { channelId: CHANNEL, content: 'hello' } as const;

describe('an endpoint', () => {
  it.each([
    'http://127.0.0.1:1', 'http://127.9.9.9:1/', 'http://[::1]:1', 'http://localhost:1', 'https://broker.example',
    'http://127.0.0.1:1/v1/action', 'https://broker.example:8443/v1/action',
  ])('%s is taken', (url) => {
    expect(clientOf(url).endpoint).toMatch(/\/v1\/action$/);
  });

  it.each([
    ['http://broker.example', 'https, or http on a loopback address'],
    ['http://10.0.0.1:1', 'https, or http on a loopback address'],
    ['http://127.0.0.1.example:1', 'https, or http on a loopback address'],
    ['http://0.0.0.0:1', 'https, or http on a loopback address'],
    ['http://localhost.example:1', 'https, or http on a loopback address'],
    ['ws://127.0.0.1:1', 'an http or https URL'],
    ['127.0.0.1:1', 'an http or https URL'],
    ['', 'an http or https URL'],
    ['https://user:secret@broker.example', 'no user name or password in it'],
    ['https://broker.example/?token=secret', 'no query and no fragment'],
    ['https://broker.example/v2', 'no path, or /v1/action'],
  ])('%s is refused, and not repeated', (url, expected) => {
    expect(() => clientOf(url)).toThrow(`endpoint: expected ${expected}`);
    expect(() => clientOf(url)).not.toThrow(/secret/);
  });

  it('localhost is this machine, whatever a resolver would say', async () => {
    const { url, received } = await endpoint(posted());
    expect(await clientOf(url.replace('127.0.0.1', 'localhost')).call('message.post', POST)).toMatchObject({
      status: 'succeeded',
    });
    expect(received).toHaveLength(1);
  });
});

describe('a credential', () => {
  it.each(['', 'a b', 'a\r\nx: y', 'a\n', 'ü', '=', 'x'.repeat(5_000)])('%j is refused, and not repeated', (text) => {
    const opening = (): unknown => clientOf('http://127.0.0.1:1', { credential: text });
    expect(opening).toThrow('credential: expected one token, without spaces or line breaks (RFC 6750)');
  });

  it('is refused where a variable that should hold it is not set', () => {
    const opening = (): unknown => clientOf('http://127.0.0.1:1', { credential: process.env['SKEP_NO_SUCH_NAME'] as string });
    expect(opening).toThrow('credential: expected one token');
  });

  it('stands in no object, result or text', async () => {
    const { url } = await endpoint(plain(503));
    const client = clientOf(url);
    const frozen = client.freeze('message.post', POST);
    const result = await client.call('message.post', POST);
    const shown = [client, frozen, result].map((each) =>
      `${inspect(each, { depth: 20, showHidden: true })}${JSON.stringify(each)}`);
    expect(shown.join()).not.toContain(CREDENTIAL);
    expect(shown.join()).toContain('503');
  });

  it('never follows a redirect', async () => {
    const elsewhere = await endpoint(posted());
    for (const status of [301, 302, 303, 307, 308]) {
      const { url } = await endpoint(plain(status, { location: `${elsewhere.url}/v1/action` }));
      expect(await clientOf(url).call('message.post', POST)).toMatchObject({ reason: 'redirect', uncertain: true });
    }
    expect(elsewhere.received).toEqual([]);
  });

  it('never goes to a proxy', async () => {
    const proxy = await endpoint(posted());
    const { url, received } = await endpoint(posted());
    const program = `
      const { openClient } = await import('skep/client');
      const client = openClient({ endpoint: ${JSON.stringify(url)}, credential: 'a-credential' });
      console.log(JSON.stringify((await client.call('message.post', ${JSON.stringify(POST)})).status));
      client.close();`;
    const places = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];
    const env = { NODE_USE_ENV_PROXY: '1', ...Object.fromEntries(places.map((name) => [name, proxy.url])) };
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'],
    });
    let told = '';
    child.stdout.on('data', (chunk: Buffer) => (told += chunk.toString('utf8')));
    await once(child, 'close');
    expect(told.trim()).toBe('"succeeded"');
    expect(received).toHaveLength(1);
    expect(proxy.received).toEqual([]);
  });
});

describe('TLS', () => {
  it('takes a server that the given certificates vouch for', async () => {
    const { url, received } = await secureEndpoint(posted());
    for (const place of [url, url.replace('127.0.0.1', 'localhost')]) {
      const client = clientOf(place, { ca: CERTIFICATE });
      expect(await client.call('message.post', POST)).toMatchObject({ status: 'succeeded' });
    }
    expect(received).toHaveLength(2);
  });

  it('sends nothing to a server that nobody vouches for', async () => {
    const { url, received } = await secureEndpoint(posted());
    expect(await clientOf(url, { limits: { maxAttempts: 2 } }).call('message.post', POST)).toMatchObject({
      status: 'transport', reason: 'unreachable', detail: 'DEPTH_ZERO_SELF_SIGNED_CERT', uncertain: false,
    });
    expect(received).toEqual([]);
  });

  it('sends nothing to a server of another name', async () => {
    const { url, received } = await secureEndpoint(posted());
    const client = clientOf(url.replace('127.0.0.1', '127.0.0.2'), { ca: CERTIFICATE });
    expect(await client.call('message.post', POST)).toMatchObject({ status: 'transport', uncertain: false });
    expect(received).toEqual([]);
  });
});
