/**
 * What the head of a request must be before its body is looked at: for this host, and from no other page. Target, Host
 * and Origin are compared whole, never by prefix. NIP-BA "Session and transport".
 */
import type { IncomingMessage } from 'node:http';

export interface HeadRefusal {
  readonly httpStatus: 400 | 403 | 415;
  readonly detail: string;
}

/** Why a request is refused whatever it asks for, or undefined. */
export function refusalOf({ headersDistinct: headers, socket, url: target = '' }: IncomingMessage): HeadRefusal | undefined {
  const { localAddress, localPort } = socket;
  if (localAddress === undefined || localPort === undefined)
    return { httpStatus: 400, detail: 'the connection is gone' };
  const authorities = [authorityOf(localAddress, localPort), `localhost:${localPort}`];
  const [host = '', ...moreHosts] = headers['host'] ?? [];
  if (moreHosts.length > 0 || !authorities.includes(host.toLowerCase())) {
    return { httpStatus: 403, detail: 'Host: expected the loopback authority of this endpoint' };
  }
  // RFC 9112 3.2.2: a target with an authority overrules Host, so it is held to the same.
  if (!target.startsWith('/') && !authorities.includes(targetAuthority(target))) {
    return { httpStatus: 403, detail: 'request target: expected a path, or the loopback authority of this endpoint' };
  }
  // A browser names the page; our own clients are no pages and send none.
  const origins = headers['origin'] ?? [];
  if (!origins.every((origin) => authorities.some((authority) => origin === `http://${authority}`))) {
    return { httpStatus: 403, detail: 'Origin: expected none, or this endpoint' };
  }
  if (headers['content-encoding'] !== undefined) {
    return { httpStatus: 415, detail: 'Content-Encoding: expected none' };
  }
  return undefined;
}

/** Of an absolute-form target; whatever else a target may be has none that is ours. */
function targetAuthority(target: string): string {
  return /^http:\/\/([^/?#]*)/i.exec(target)?.[1]?.toLowerCase() ?? '';
}

/** The bearer credential, when there is exactly one Authorization header of that scheme. */
export function tokenOf({ headersDistinct }: IncomingMessage): string | undefined {
  const [authorization = '', ...more] = headersDistinct['authorization'] ?? [];
  return more.length > 0 ? undefined : /^Bearer +([\w~+/.-]+=*) *$/i.exec(authorization)?.[1];
}

/** Addresses that no other machine reaches. Names are not among them: what they resolve to is not ours to say. */
export function isLoopback(address: string): boolean {
  return address === '127.0.0.1' || address === '::1';
}

export function authorityOf(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
