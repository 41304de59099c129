/**
 * What the head of a request must be before its body is looked at: for this host, and from no other page. Target, Host
 * and Origin are compared whole, never by prefix. NIP-BA "Session and transport".
 */
import type { Socket } from 'node:net';

/** The headers that decide, each time they stand there. Read from the list as it came in: Node's tables join or drop. */
export interface Head {
  readonly target: string;
  readonly host: readonly string[];
  readonly origin: readonly string[];
  readonly authorization: readonly string[];
  readonly contentType: readonly string[];
  readonly contentEncoding: readonly string[];
  readonly contentLength: readonly string[];
}

export interface HeadRefusal {
  readonly httpStatus: 400 | 403 | 415;
  readonly detail: string;
}

export type Scheme = 'http' | 'https';

/** By which names one listener may be asked. */
export interface Door {
  /** Why a request is refused whatever it asks for, or undefined. */
  refusalOf(head: Head, socket: Pick<Socket, 'localAddress' | 'localPort'>): HeadRefusal | undefined;
}

interface Names {
  /** `127.0.0.1:4711`; without its port, too, where that is the scheme's own. */
  readonly authorities: ReadonlySet<string>;
  /** `http://127.0.0.1:4711` */
  readonly origins: ReadonlySet<string>;
}

/** `rawHeaders` are names and values in turn. */
export function readHead(target: string, rawHeaders: readonly string[]): Head {
  const head = {
    target, host: [], origin: [], authorization: [], contentType: [], contentEncoding: [], contentLength: [],
  } satisfies Head as { readonly target: string } & Record<Exclude<keyof Head, 'target'>, string[]>;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    const member = MEMBERS.get(name) ?? MEMBERS.get(name.toLowerCase());
    if (member !== undefined) head[member].push(rawHeaders[at + 1] ?? '');
  }
  return head;
}

/** Also as most clients write them, so that there is nothing to convert. */
const MEMBERS: ReadonlyMap<string, Exclude<keyof Head, 'target'>> = new Map([
  ['host', 'host'], ['Host', 'host'],
  ['origin', 'origin'], ['Origin', 'origin'],
  ['authorization', 'authorization'], ['Authorization', 'authorization'],
  ['content-type', 'contentType'], ['Content-Type', 'contentType'],
  ['content-encoding', 'contentEncoding'], ['Content-Encoding', 'contentEncoding'],
  ['content-length', 'contentLength'], ['Content-Length', 'contentLength'],
]);

/**
 * A listener is asked by the address it was reached at, by `localhost` where that is loopback, and by `endpoint`, the
 * URL that its operator has given it.
 */
export function openDoor(scheme: Scheme, endpoint?: string): Door {
  // Of the address that was asked last: almost always it is asked again.
  let kept: { readonly address: string; readonly port: number; readonly names: Names } | undefined;

  function namesAt(address: string, port: number): Names {
    if (kept?.address === address && kept.port === port) return kept.names;
    const own = [authorityOf(address, port), ...(isLoopback(address) ? [`localhost:${port}`] : [])];
    const names = namesOf([...own.map((authority) => `${scheme}://${authority}`), ...(endpoint === undefined ? [] : [endpoint])]);
    kept = { address, port, names };
    return names;
  }

  return {
    refusalOf({ target, host, origin, contentEncoding }, { localAddress, localPort }) {
      if (localAddress === undefined || localPort === undefined)
        return { httpStatus: 400, detail: 'the connection is gone' };
      const { authorities, origins } = namesAt(localAddress, localPort);
      if (host.length !== 1 || !authorities.has((host[0] ?? '').toLowerCase())) {
        return { httpStatus: 403, detail: 'Host: expected the authority of this endpoint' };
      }
      // RFC 9112 3.2.2: a target with an authority overrules Host, so it is held to the same.
      if (!target.startsWith('/') && !authorities.has(targetAuthority(target, scheme))) {
        return { httpStatus: 403, detail: 'request target: expected a path, or the authority of this endpoint' };
      }
      // A browser names the page; our own clients are no pages and send none.
      if (!origin.every((page) => origins.has(page))) {
        return { httpStatus: 403, detail: 'Origin: expected none, or this endpoint' };
      }
      return contentEncoding.length === 0
        ? undefined
        : { httpStatus: 415, detail: 'Content-Encoding: expected none' };
    },
  };
}

/** A browser leaves the scheme's own port out, another client may not. */
function namesOf(texts: readonly string[]): Names {
  const urls = texts.map((text) => new URL(text));
  const authorities = urls.flatMap(({ host, hostname, port, protocol }) =>
    port === '' ? [host, `${hostname}:${protocol === 'https:' ? 443 : 80}`] : [host]);
  return { authorities: new Set(authorities), origins: new Set(urls.map(({ origin }) => origin)) };
}

/** Of an absolute-form target; whatever else a target may be has none that is ours. */
function targetAuthority(target: string, scheme: Scheme): string {
  const [, named = '', authority = ''] = /^(https?):\/\/([^/?#]*)/i.exec(target) ?? [];
  return named.toLowerCase() === scheme ? authority.toLowerCase() : '';
}

/** Of the target, without its query: RFC 9112 3.2.1 and 3.2.2. */
export function pathOf({ target }: Pick<Head, 'target'>): string {
  const path = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '');
  const end = path.search(/[?#]/);
  return end < 0 ? path : path.slice(0, end);
}

/** The bearer credential, when there is exactly one Authorization header of that scheme. */
export function tokenOf({ authorization }: Head): string | undefined {
  return authorization.length > 1 ? undefined : /^Bearer +([\w~+/.-]+=*) *$/i.exec(authorization[0] ?? '')?.[1];
}

/** One Content-Type, JSON, and in UTF-8 where it says in what. */
export function isJson({ contentType }: Head): boolean {
  if (contentType.length > 1) return false;
  const type = contentType[0] ?? '';
  return type === 'application/json' || /^application\/json(?:\s*;\s*charset="?utf-8"?)?\s*$/i.test(type);
}

/** Addresses that no other machine reaches. Names are not among them: what they resolve to is not ours to say. */
export function isLoopback(address: string): boolean {
  return address === '127.0.0.1' || address === '::1';
}

/** A socket that takes IPv6 and IPv4 alike names the latter `::ffff:192.0.2.1`; a client does not. */
export function authorityOf(address: string, port: number): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  return plain.includes(':') ? `[${plain}]:${port}` : `${plain}:${port}`;
}
