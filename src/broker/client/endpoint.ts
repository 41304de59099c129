/**
 * Where requests go, and with what. TLS with server authentication, or a loopback address: a credential never crosses
 * a network in the clear. Decided from the text alone, before anything is connected. A message never repeats the
 * credential, nor an endpoint that may hold one. NIP-BA "Session and transport".
 */
import { isIP } from 'node:net';
import { refuse } from '../../model/index.ts';
import type { Refusal } from '../../model/index.ts';

export interface Endpoint {
  readonly url: URL;
  readonly secure: boolean;
  /** Of the host itself: no name is looked up for it. */
  readonly loopback: readonly Address[] | undefined;
}

export interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

const PATH = '/v1/action';
/** RFC 6750: what a bearer token may be made of; nothing that could end a header. */
const CREDENTIAL = /^[A-Za-z0-9._~+/-]{1,4096}=*$/;

/** `text` is the base of a broker, `http://127.0.0.1:4711`, or that and `/v1/action`. */
export function parseEndpoint(text: string): { readonly ok: true; readonly endpoint: Endpoint } | Refusal<'endpoint'> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) return wrong('an http or https URL');
  if (url.username !== '' || url.password !== '') return wrong('no user name or password in it');
  if (url.search !== '' || url.hash !== '') return wrong('no query and no fragment');
  if (url.pathname !== '/' && url.pathname !== PATH) return wrong(`no path, or ${PATH}`);
  const secure = url.protocol === 'https:';
  const loopback = loopbackAddresses(url.hostname);
  if (!secure && loopback === undefined) return wrong('https, or http on a loopback address');
  url.pathname = PATH;
  return { ok: true, endpoint: { url, secure, loopback } };
}

/** The addresses of a host that is this machine by its name. `localhost` is never asked of a resolver (RFC 6761). */
function loopbackAddresses(hostname: string): readonly Address[] | undefined {
  const bare = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (bare === 'localhost') return [{ address: '127.0.0.1', family: 4 }, { address: '::1', family: 6 }];
  if (isIP(bare) === 4 && bare.startsWith('127.')) return [{ address: bare, family: 4 }];
  return bare === '::1' ? [{ address: bare, family: 6 }] : undefined;
}

/** A caller in JavaScript may give a variable that is not set: `undefined` would be taken for the token of that name. */
export function checkCredential(text: unknown): Refusal<'credential'> | undefined {
  return typeof text === 'string' && CREDENTIAL.test(text) ? undefined : refuse('credential', 'credential: expected one token, without spaces or line breaks (RFC 6750)');
}

function wrong(expected: string): Refusal<'endpoint'> {
  return refuse('endpoint', `endpoint: expected ${expected}`);
}
