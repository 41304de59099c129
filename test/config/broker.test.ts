/** `broker:` in `skep.yaml`: nothing in the clear beyond loopback, and no certificate that a client would refuse. */
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { Failure } from '../../src/model/index.ts';
import { CERTIFICATE, KEY } from '../setup/certificate.ts';
import { load, oneAgent, writeConfig, writeKey } from './write.ts';

const NOT_YET = Date.parse('2020-01-01');
const SOON = Date.parse('2126-11-01');
const PAST = Date.parse('2127-01-01');
const OTHER_KEY = generateKeyPairSync('ec', { namedCurve: 'P-256', privateKeyEncoding: { type: 'pkcs8', format: 'pem' }, publicKeyEncoding: { type: 'spki', format: 'pem' } }).privateKey;
const LOCKED_KEY = generateKeyPairSync('ec', {
  namedCurve: 'P-256', publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' },
}).privateKey;

const TLS = 'tls: { cert: tls.crt, key: tls.key }';

interface Files {
  readonly cert?: string;
  readonly key?: string;
  readonly mode?: number;
}

/** A folder whose config says this of the broker, on line 2 alone. */
function folder(broker: string, { cert = CERTIFICATE, key = KEY, mode = 0o600 }: Files = {}): string {
  const directory = writeConfig(oneAgent('', { top: `relay: embedded\nbroker: ${broker}` }));
  writeFileSync(join(directory, 'tls.crt'), cert);
  writeKey(directory, 'tls.key', key, mode);
  return directory;
}

function told(broker: string, files: Files = {}, nowMs?: number): string {
  const directory = folder(broker, files);
  try {
    loadConfig(join(directory, 'skep.yaml'), { cores: 8, ...(nowMs === undefined ? {} : { nowMs }) });
    return 'loaded';
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.message.replaceAll(`${directory}/`, '');
  }
}

describe('the endpoint in skep.yaml', () => {
  it('is a free port on loopback unless it is told otherwise', () => {
    expect(load(writeConfig(oneAgent())).broker).toEqual({ address: '127.0.0.1', port: 0 });
    expect(load(folder('{ address: "::1", port: 4711 }')).broker).toEqual({ address: '::1', port: 4_711 });
  });

  it('has a certificate and its key in TLS', () => {
    const { broker, warnings } = load(folder(`{ address: 192.0.2.1, port: 8443, ${TLS}, endpoint: https://Broker.Example }`));
    expect(broker).toEqual({
      address: '192.0.2.1', port: 8_443, tls: { cert: CERTIFICATE, key: KEY }, endpoint: 'https://broker.example',
    });
    expect(warnings).toEqual([]);
  });

  it('may be known by the name of a proxy', () => {
    expect(load(folder('{ endpoint: "https://broker.example:8443/" }')).broker.endpoint).toBe('https://broker.example:8443');
  });

  it('warns of a certificate that is about to expire', () => {
    const { warnings } = loadConfig(join(folder(`{ ${TLS} }`), 'skep.yaml'), { cores: 8, nowMs: SOON });
    expect(warnings).toEqual(['broker.tls: the certificate expires on 2126-11-06; a new one is read at the next start']);
  });
});

describe('refused is', () => {
  const ENDPOINT = 'expected an https URL without a path, or http on a loopback address';
  it.each([
    ['{ address: 0.0.0.0 }', 'broker.address: found 0.0.0.0, expected 127.0.0.1 or ::1 without broker.tls'],
    ['{ address: 127.0.0.2 }', 'broker.address: found 127.0.0.2, expected 127.0.0.1 or ::1 without broker.tls'],
    ['{ address: localhost }', 'broker.address: found "localhost", expected an IP address'],
    ['{ address: "fe80::1%eth0" }', 'broker.address: found "fe80::1%eth0", expected an IP address'],
    ['{ port: 65536 }', 'broker.port: found 65536, expected a whole number 0..65535'],
    ['{ adress: "::1" }', 'broker.adress: unknown member, did you mean address?'],
    ['{ tls: { cert: tls.crt } }', 'broker.tls.key: missing, expected the path of a file that holds its private key (PEM)'],
    ['{ tls: true }', 'broker.tls: found true, expected a mapping of cert and key'],
    ['{ endpoint: http://broker.example }', `broker.endpoint: found "http://broker.example", ${ENDPOINT}`],
    ['{ endpoint: https://broker.example/v1/action }', `broker.endpoint: found "https://broker.example/v1/action", ${ENDPOINT}`],
    ['{ endpoint: "https://me:hunter2@broker.example" }', `broker.endpoint: found "https://me:hunter2@broker.example", ${ENDPOINT}`],
    [`{ address: "::", ${TLS} }`, 'broker.endpoint: missing, expected with address: "::", which nobody can connect to by name'],
    [`{ ${TLS}, endpoint: http://localhost }`, 'broker.endpoint: found an http URL, expected https with broker.tls'],
    ['{ tls: { cert: none, key: tls.key } }', 'broker.tls.cert: found none, which does not exist'],
    ['{ tls: { cert: tls.crt, key: none } }', 'broker.tls.key: found none, which does not exist'],
    ['{ tls: { cert: tls.key, key: tls.key } }', 'broker.tls.cert: tls.key: expected a certificate (PEM)'],
    ['{ tls: { cert: tls.crt, key: tls.crt } }', 'broker.tls.key: tls.crt has mode 0644, expected 0600: others can read or change it; chmod 600 tls.crt'],
  ])('%s', (broker, line) => {
    expect(told(broker)).toBe(`skep.yaml:2: ${line}`);
  });

  it.each<[string, Files, number | undefined, string]>([
    ['a key that others read', { mode: 0o640 }, undefined, 'key: tls.key has mode 0640, expected 0600: others can read or change it; chmod 600 tls.key'],
    ['a key that is none', { key: 'x' }, undefined, 'key: tls.key: expected a private key (PEM)'],
    ['a key with a passphrase', { key: LOCKED_KEY }, undefined, 'key: tls.key: found an encrypted key, expected one without a passphrase'],
    ['a key of another certificate', { key: OTHER_KEY }, undefined, 'key: tls.key: found the key of another certificate, expected the key of broker.tls.cert'],
    ['a certificate that is none', { cert: 'x' }, undefined, 'cert: tls.crt: expected a certificate (PEM)'],
    ['one that has expired', {}, PAST, 'cert: tls.crt: expired on 2126-11-06, expected one that is good'],
    ['one that is not good yet', {}, NOT_YET, 'cert: tls.crt: is not good before 2026-11-30, expected one that is'],
  ])('%s', (_, files, nowMs, line) => {
    expect(told(`{ ${TLS} }`, files, nowMs)).toBe(`skep.yaml:2: broker.tls.${line}`);
  });
});
