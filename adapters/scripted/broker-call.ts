/**
 * Calls the broker: one action, one request id, one body, sent until there is a verdict or patience ends.
 * in: action, arguments, request id. out: a verdict, or `unreachable` with the last transport failure.
 * NIP-BA "Session and transport" and "Execution and retries". The arguments go out as the script wrote them, neither
 * checked nor normalised: a script must be able to send what a host has to refuse. Never follows a redirect and never
 * uses a proxy, for either would carry the credential elsewhere; never logs the credential.
 */
import type { IncomingMessage, RequestOptions } from 'node:http';
import type { Members } from './json.ts';
import { readVerdict } from './verdict.ts';
import type { Verdict } from './verdict.ts';

export interface BrokerRequest {
  readonly action: string;
  readonly args: Members;
  readonly requestId: string;
  /** How often the same bytes are sent at most. */
  readonly attempts: number;
  /** Patience for one attempt, from connect to the last byte of the answer. */
  readonly timeoutMs: number;
  /** Stops further attempts; a request under way is left alone, since its effect is the host's by now. */
  readonly signal: AbortSignal;
}

export type BrokerAnswer = Verdict | { readonly status: 'unreachable'; readonly detail: string };

export type BrokerCall = (request: BrokerRequest) => Promise<BrokerAnswer>;

export interface BrokerAccess {
  /** The base of the endpoint, such as `http://127.0.0.1:4711`. */
  readonly url: string;
  readonly credential: string;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Waits between attempts: 100 ms, then twice as long each time, up to 2 s. */
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 2_000;
/** A page of 500 messages of 64 KiB with their tags fits; more than that is no answer of ours. */
const MAX_ANSWER_BYTES = 67_108_864;

export function brokerCall(access: BrokerAccess): BrokerCall {
  const endpoint = new URL(`${access.url.replace(/\/+$/, '')}/v1/action`);
  return async ({ action, args, requestId, attempts, timeoutMs, signal }) => {
    // NIP-BA "Execution and retries" 1: serialized once, every retry sends the identical bytes and ID.
    const body = Buffer.from(
      JSON.stringify({ type: 'broker_request', protocolVersion: 1, requestId, actionVersion: 1, action, args }),
    );
    let detail = 'cancelled before the first attempt';
    for (let attempt = 1; attempt <= attempts && !signal.aborted; attempt += 1) {
      if (attempt > 1) await access.sleep(Math.min(FIRST_WAIT_MS * 2 ** (attempt - 2), LONGEST_WAIT_MS), signal);
      const sent = await exchange(endpoint, access.credential, body, timeoutMs);
      if (sent.ok) {
        // A valid correlated result takes precedence over the HTTP status.
        const verdict = readVerdict(sent.body, { action, requestId });
        if (verdict !== undefined) return verdict;
      }
      detail = sent.ok ? `HTTP ${sent.httpStatus} without a valid result` : sent.detail;
    }
    return { status: 'unreachable', detail };
  };
}

type Exchange =
  | { readonly ok: true; readonly httpStatus: number; readonly body: string }
  | { readonly ok: false; readonly detail: string };

async function exchange(endpoint: URL, credential: string, body: Buffer, timeoutMs: number): Promise<Exchange> {
  const { request } = endpoint.protocol === 'https:' ? await import('node:https') : await import('node:http');
  const options: RequestOptions = {
    method: 'POST',
    // A connection of its own for each attempt: nothing to go stale between two prompts, nothing left open.
    agent: false,
    signal: AbortSignal.timeout(timeoutMs),
    headers: {
      authorization: `Bearer ${credential}`,
      'content-type': 'application/json',
      'content-length': body.length,
    },
  };
  return new Promise((settle) => {
    const fail = (error: Error & { readonly code?: string }): void => {
      settle({ ok: false, detail: error.name === 'AbortError' ? `no answer within ${timeoutMs} ms` : describe(error) });
    };
    request(endpoint, options, (response) => {
      readBody(response).then((text) => {
        settle({ ok: true, httpStatus: response.statusCode ?? 0, body: text });
      }, fail);
    })
      .on('error', fail)
      .end(body);
  });
}

async function readBody(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    if (!Buffer.isBuffer(chunk)) continue;
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`answer over ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function describe(error: Error & { readonly code?: string }): string {
  return error.code ?? error.message;
}
