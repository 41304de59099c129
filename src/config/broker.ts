/**
 * `broker:`, from what is written to what is meant. An address that other machines reach is served by TLS or not at all,
 * and what would fail at the first handshake (a key of another certificate, one that has expired) is told at load.
 * NIP-BA "Session and transport".
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { resolve } from 'node:path';
import type { BrokerConfig } from './config.ts';
import type { Resolving } from './fail.ts';
import { othersMayRead, readSmallFile } from './files.ts';
import { shown } from './found.ts';
import type { Written } from './schema.ts';

/** A chain of certificates; a longer one is something else. */
const MAX_PEM_BYTES = 262_144;

export function resolveBroker(
  folder: string, { address, port, tls, endpoint }: NonNullable<Written['broker']>, { nowMs, fail }: Resolving,
): BrokerConfig {
  if (tls === undefined && address !== '127.0.0.1' && address !== '::1') {
    return fail(['broker', 'address'], `found ${address}, expected 127.0.0.1 or ::1 without broker.tls`);
  }
  if (endpoint === undefined && (address === '0.0.0.0' || address === '::')) {
    return fail(['broker', 'endpoint'], `missing, expected with address: "${address}", which nobody can connect to by name`);
  }
  if (tls !== undefined && endpoint?.startsWith('http:') === true) {
    return fail(['broker', 'endpoint'], 'found an http URL, expected https with broker.tls');
  }
  return {
    address, port,
    ...(tls === undefined ? {} : { tls: readTls(folder, tls, { nowMs, fail }) }),
    ...(endpoint === undefined ? {} : { endpoint }),
  };
}

function readTls(
  folder: string, { cert, key }: { readonly cert: string; readonly key: string }, { nowMs, fail }: Resolving,
): NonNullable<BrokerConfig['tls']> {
  const failCert = (sentence: string): never => fail(['broker', 'tls', 'cert'], `${shown(cert)}: ${sentence}`);
  const failKey = (sentence: string): never => fail(['broker', 'tls', 'key'], `${shown(key)}: ${sentence}`);
  const certFile = readSmallFile(resolve(folder, cert), cert, MAX_PEM_BYTES);
  if (!certFile.ok) return fail(['broker', 'tls', 'cert'], certFile.sentence);
  const keyFile = readSmallFile(resolve(folder, key), key, MAX_PEM_BYTES);
  if (!keyFile.ok) return fail(['broker', 'tls', 'key'], keyFile.sentence);
  const open = othersMayRead(keyFile.stats, key);
  if (open !== undefined) return fail(['broker', 'tls', 'key'], open);
  const certificate = parseCertificate(certFile.text) ?? failCert('expected a certificate (PEM)');
  const parsedKey = parseKey(keyFile.text);
  if (typeof parsedKey === 'string') return failKey(parsedKey);
  if (!certificate.checkPrivateKey(parsedKey)) return failKey('found the key of another certificate, expected the key of broker.tls.cert');
  if (Date.parse(certificate.validTo) <= nowMs) return failCert(`expired on ${dayOf(certificate.validTo)}, expected one that is good`);
  if (Date.parse(certificate.validFrom) > nowMs) return failCert(`is not good before ${dayOf(certificate.validFrom)}, expected one that is`);
  return { cert: certFile.text, key: keyFile.text };
}

/** The first of a chain is the server's own. */
function parseCertificate(text: string): X509Certificate | undefined {
  try {
    return new X509Certificate(text);
  } catch {
    return undefined;
  }
}

/** The key, or what is wrong with it. OpenSSL's own words may quote the text. */
function parseKey(text: string): KeyObject | string {
  if (/ENCRYPTED/.test(text)) return 'found an encrypted key, expected one without a passphrase';
  try {
    return createPrivateKey(text);
  } catch {
    return 'expected a private key (PEM)';
  }
}

/** When the server's certificate ends, Unix milliseconds. */
export function endOf(cert: string): number {
  return Date.parse(new X509Certificate(cert).validTo);
}

export function dayOf(date: string | number): string {
  return new Date(date).toISOString().slice(0, 10);
}
