/**
 * The road of a request from its head to its answer. What cannot be a correlated verdict (a strange host, origin, path,
 * method or content type, a body too long or too slow, no request id) is a plain HTTP error here, and neither executed
 * nor recorded. Every verdict is HTTP 200. No CORS: no page may read an answer. NIP-BA "Session and transport".
 *
 * Straight on `node:http`: one path and one method need no framework, and one would cost as much as all the checks.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isJson, pathOf, readBody, readHead, tokenOf } from '../http/index.ts';
import type { Body, Door, Head } from '../http/index.ts';
import { unreachable } from '../model/index.ts';
import type { Log } from '../model/index.ts';
import type { Dispatch } from './dispatch.ts';
import { REQUEST_LIMITS } from './wire/index.ts';

const PATH = '/v1/action';
/** Beyond it copying an answer costs more than a second write. */
const MAX_JOINED_BYTES = 16_384;

export interface RouteOptions {
  readonly door: Door;
  readonly dispatch: Dispatch;
  readonly log: Log;
  /** Requests between their head and their answer. */
  readonly maxRequests: number;
}

/** Answers every request it is given. */
export type Routes = (incoming: IncomingMessage, response: ServerResponse) => void;

/** `verdict` is the JSON of one; anything else is one line of text. */
type Answer =
  | { readonly httpStatus: 200; readonly verdict: string }
  | { readonly httpStatus: number; readonly detail: string; readonly headers?: Readonly<Record<string, string>> };

export function openRoutes({ door, dispatch, log, maxRequests }: RouteOptions): Routes {
  let requests = 0;

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    let answer: Answer;
    try {
      const head = readHead(incoming.url ?? '', incoming.rawHeaders);
      answer = refusalOf(head, incoming, door) ?? (requests < maxRequests ? await answerTo(incoming, head) : BUSY);
    } catch (error) {
      log.error('broker: a request ended in a fault', { error });
      answer = FAULT;
    }
    send(answer, response);
  }

  async function answerTo(incoming: IncomingMessage, head: Head): Promise<Answer> {
    requests += 1;
    try {
      const body = await readBody(incoming, Number(head.contentLength[0] ?? 0), REQUEST_LIMITS.maxBytes);
      return body.status === 'whole' ? answerOf(await dispatch(tokenOf(head), body.bytes)) : BODY_REFUSALS[body.status];
    } finally {
      requests -= 1;
    }
  }

  return (incoming, response) => {
    serve(incoming, response).catch((error: unknown) => {
      log.error('broker: an answer could not be sent', { error });
      response.destroy();
    });
  };
}

const BUSY: Answer = { httpStatus: 503, detail: 'too many requests at once' };
const FAULT: Answer = { httpStatus: 500, detail: 'an unexpected fault in the broker' };
const BODY_REFUSALS: Readonly<Record<Exclude<Body['status'], 'whole'>, Answer>> = {
  too_large: { httpStatus: 413, detail: `expected a body of at most ${REQUEST_LIMITS.maxBytes} bytes`, headers: { connection: 'close' } },
  broken: { httpStatus: 400, detail: 'the body ended early' },
};

function refusalOf(head: Head, { socket, method }: IncomingMessage, door: Door): Answer | undefined {
  const refused = door.refusalOf(head, socket);
  if (refused !== undefined) return refused;
  if (head.target !== PATH && pathOf(head) !== PATH) return { httpStatus: 404, detail: 'not found' };
  if (method !== 'POST') return { httpStatus: 405, detail: 'expected POST', headers: { allow: 'POST' } };
  return isJson(head) ? undefined : { httpStatus: 415, detail: 'expected Content-Type: application/json' };
}

function answerOf(reply: Awaited<ReturnType<Dispatch>>): Answer {
  switch (reply.type) {
    case 'verdict':
      return { httpStatus: 200, verdict: reply.text };
    case 'uncorrelated':
      return { httpStatus: 400, detail: reply.detail };
    case 'busy':
      return { httpStatus: 503, detail: reply.detail };
    default:
      return unreachable(reply);
  }
}

function send(answer: Answer, response: ServerResponse): void {
  if ('verdict' in answer) {
    const { httpStatus, verdict } = answer;
    const length = Buffer.byteLength(verdict);
    response.writeHead(httpStatus, { 'content-type': 'application/json', 'content-length': length });
    // A text goes out in one write with the head, which is half of what an answer costs. ASCII is the same in Latin-1,
    // and that is copied, not converted.
    if (length > MAX_JOINED_BYTES) response.end(Buffer.from(verdict));
    else response.end(verdict, length === verdict.length ? 'latin1' : 'utf8');
    return;
  }
  const { httpStatus, detail, headers } = answer;
  const text = Buffer.from(detail);
  response.writeHead(httpStatus, { ...headers, 'content-type': 'text/plain; charset=utf-8', 'content-length': text.length });
  response.end(text);
}
