/**
 * The relay over HTTP, as Buzz's clients use it: `POST /query`, `/count` and `/events`, each signed (NIP-98). What may be
 * asked and what is found is the same as over WebSocket. A refusal is an HTTP status and `{"error":"<prefix>: <text>"}`.
 *
 * A page can make a browser send requests to loopback, under its own name (Origin) or under a name it made resolve to
 * loopback (Host): both must be ours. No CORS: no page may read an answer. Never logs a header or a body.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isJson, openDoor, pathOf, readBody, readHead } from '../http/index.ts';
import type { Door, Head } from '../http/index.ts';
import { Failure, refuse, secondsOf, unreachable } from '../model/index.ts';
import { parseEvent } from '../nostr/index.ts';
import { httpStatusOf, reasonOf } from './answers.ts';
import type { RelayRefusal } from './answers.ts';
import type { Identity } from './auth.ts';
import { Callers } from './callers.ts';
import type { RelayParts } from './conversation.ts';
import { checkQueries } from './gates.ts';
import { checkHttpAuth } from './http-auth.ts';
import { storageClassOf } from './kinds.ts';
import { readQueries } from './messages.ts';
import type { Query } from './messages.ts';
import { countStored, findStored, newestSeq, readStored } from './query.ts';
import type { Reader } from './query.ts';

const PATHS = ['/query', '/count', '/events'] as const;
type Path = (typeof PATHS)[number];

/** `texts` are events that are read as they are sent: a long answer to a slow reader costs a page of memory. */
type Reply =
  | { readonly httpStatus: number; readonly json: string; readonly headers?: Readonly<Record<string, string>> }
  | { readonly httpStatus: 200; readonly pages: AsyncIterable<readonly string[]> };

/** False for a request to another path; else it is answered. */
export type Bridge = (incoming: IncomingMessage, response: ServerResponse) => boolean;

/** Stored events are read and sent this many at a time. */
const PAGE = 32;

export function openBridge(parts: RelayParts, publicUrl?: string): Bridge {
  const door = openDoor('http', publicUrl?.replace(/^ws/i, 'http'));
  const callers = new Callers(parts.limits);
  let requests = 0;

  async function replyTo(incoming: IncomingMessage, head: Head, path: Path): Promise<Reply> {
    const refused = refusalOf(head, incoming, door);
    if (refused !== undefined) return refused;
    if (requests >= parts.limits.maxRequests) return errorReply(503, 'rate-limited: too many requests at once');
    requests += 1;
    try {
      const { maxMessageBytes } = parts.limits;
      const body = await readBody(incoming, Number(head.contentLength[0] ?? 0), maxMessageBytes);
      switch (body.status) {
        case 'too_large':
          return errorReply(413, `invalid: body: expected at most ${maxMessageBytes} bytes`, { connection: 'close' });
        case 'broken':
          return errorReply(400, 'invalid: body: it ended early');
        case 'whole':
          return await answerTo(incoming, head, path, body.bytes);
        default:
          return unreachable(body);
      }
    } finally {
      requests -= 1;
    }
  }

  async function answerTo(incoming: IncomingMessage, head: Head, path: Path, body: Uint8Array): Promise<Reply> {
    const { urls, limits, clock, steadyClock, channels, owners } = parts;
    const nowSec = secondsOf(clock.now());
    const attestation = incoming.headers['x-auth-tag'];
    const checked = checkHttpAuth(
      { authorization: head.authorization, attestation: typeof attestation === 'string' ? attestation : undefined, path, body },
      { urls, nowSec, windowSec: limits.httpAuthWindowSec },
    );
    if (!checked.ok) return refusalReply(checked);
    const { identity } = checked.caller;
    const refusal = callers.admit(checked.caller, path === '/events' ? 'events' : 'requests', steadyClock.now(), nowSec);
    if (refusal !== undefined) return refusalReply(refusal);
    await owners.remember(identity);
    const value = parseJson(body);
    if (path === '/events') return publish(parts, value, identity);
    if (!Array.isArray(value)) return refusalReply(refuse('invalid', 'body: expected a JSON array of filters'));
    const read = readQueries(value, limits);
    if (!read.ok) return refusalReply(read);
    const closed = checkQueries(read.queries, identity.pubkey);
    if (closed !== undefined) return refusalReply(closed);
    const reader = { pubkey: identity.pubkey, channels };
    if (path === '/query') return query(parts, read.queries, reader);
    return { httpStatus: 200, json: JSON.stringify({ count: await countStored(parts.store, read.queries, reader) }) };
  }

  async function serve(incoming: IncomingMessage, response: ServerResponse, head: Head, path: Path): Promise<void> {
    let reply: Reply;
    try {
      reply = await replyTo(incoming, head, path);
    } catch (error) {
      const code = error instanceof Failure ? error.code : 'bug';
      parts.log.error('a request over HTTP was not answered', { path, code, detail: error instanceof Error ? error.message : '' });
      reply = refusalReply(refuse('error', `stored events could not be read (${code})`));
    }
    await send(reply, response);
  }

  return (incoming, response) => {
    const head = readHead(incoming.url ?? '', incoming.rawHeaders);
    const path = PATHS.find((each) => each === pathOf(head));
    if (path === undefined) return false;
    serve(incoming, response, head, path).catch((error: unknown) => {
      // The head is gone out: that the answer is not whole can be told by breaking it off alone.
      parts.log.error('an answer over HTTP was broken off', { path, detail: error instanceof Error ? error.message : '' });
      response.destroy();
    });
    return true;
  };
}

function refusalOf(head: Head, { socket, method }: IncomingMessage, door: Door): Reply | undefined {
  const refused = door.refusalOf(head, socket);
  if (refused !== undefined) return errorReply(refused.httpStatus, `restricted: ${refused.detail}`);
  if (method !== 'POST') return errorReply(405, 'invalid: expected POST', { allow: 'POST' });
  return isJson(head) ? undefined : errorReply(415, 'invalid: expected Content-Type: application/json');
}

async function publish({ ingest, count }: RelayParts, value: unknown, identity: Identity): Promise<Reply> {
  const parsed = parseEvent(value);
  if (!parsed.ok) return refusalReply(refuse('invalid', parsed.detail));
  // Nobody could tell whether one that nothing remembers has reached anybody; and none is worth a signature more.
  const answer = storageClassOf(parsed.event.kind) === 'ephemeral'
    ? refuse('invalid', 'kind: ephemeral events go over the WebSocket alone')
    : await ingest.accept(parsed.event, identity);
  count(answer.ok ? 'accepted' : 'refused', 1);
  if (!answer.ok) return refusalReply(answer);
  return { httpStatus: 200, json: JSON.stringify({ event_id: parsed.event.id, accepted: true, message: answer.note }) };
}

async function query({ store, limits, count }: RelayParts, queries: readonly Query[], reader: Reader): Promise<Reply> {
  const places = await findStored(store, queries, reader, await newestSeq(store), limits);
  const first = await readStored(store, places.slice(0, PAGE), reader);
  async function* pages(): AsyncGenerator<readonly string[]> {
    for (let at = 0; at < places.length; at += PAGE) {
      const texts = at === 0 ? first : await readStored(store, places.slice(at, at + PAGE), reader);
      count('delivered', texts.length);
      yield texts;
    }
  }
  return { httpStatus: 200, pages: pages() };
}

async function send(reply: Reply, response: ServerResponse): Promise<void> {
  if ('json' in reply) {
    response.writeHead(reply.httpStatus, { ...reply.headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(reply.json) });
    response.end(reply.json);
    return;
  }
  response.writeHead(reply.httpStatus, { 'content-type': 'application/json' });
  let separator = '[';
  for await (const texts of reply.pages) {
    if (texts.length === 0) continue;
    const hasRoom = response.write(`${separator}${texts.join(',')}`);
    separator = ',';
    if (!hasRoom) await roomIn(response);
    if (response.destroyed) return;
  }
  response.end(separator === '[' ? '[]' : ']');
}

/** Resolves when it has room for more, or is gone. */
function roomIn(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
    if (response.destroyed) done();
  });
}

function refusalReply(refusal: RelayRefusal): Reply {
  const headers = refusal.code === 'auth-required' ? { 'www-authenticate': 'Nostr' } : undefined;
  return errorReply(httpStatusOf(refusal.code), reasonOf(refusal), headers);
}

function errorReply(httpStatus: number, error: string, headers?: Readonly<Record<string, string>>): Reply {
  return { httpStatus, json: JSON.stringify({ error }), ...(headers && { headers }) };
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    return undefined;
  }
}
