/** A client of the relay over HTTP: signed requests (NIP-98), and what is wrong with them on purpose. */
import { hash, randomUUID } from 'node:crypto';
import { request } from 'node:http';
import type { OutgoingHttpHeaders } from 'node:http';
import type { Tag, VerifiedEvent } from '../../src/nostr/index.ts';
import type { Person } from './harness.ts';

export interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  /** In place of what the signed event would say. */
  readonly tags?: readonly Tag[];
  readonly kind?: number;
  readonly createdAtSec?: number;
}

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** The event that signs a request of that body to that path. */
export function signedFor(relay: { readonly url: string }, by: Person, path: string, body: string, sent: Sent = {}): VerifiedEvent {
  const tags = new Map<string, Tag>([
    ['u', ['u', relay.url.replace('ws', 'http') + path]], ['method', ['method', 'POST']], ['nonce', ['nonce', randomUUID()]],
    ['payload', ['payload', hash('sha256', body)]], ...(sent.tags ?? []).map((tag): [string, Tag] => [tag[0] ?? '', tag]),
  ]);
  return by.sign(sent.kind ?? 27_235, [...tags.values()], '', sent.createdAtSec);
}

export function authorization(event: VerifiedEvent): string {
  return `Nostr ${Buffer.from(JSON.stringify(event)).toString('base64')}`;
}

/** Without `by` nobody signs it. */
export async function post(
  relay: { readonly url: string }, by: Person | undefined, path: string, value: unknown, sent: Sent = {},
): Promise<Answered> {
  const body = typeof value === 'string' ? value : JSON.stringify(value);
  const signed = by === undefined ? {} : { authorization: authorization(signedFor(relay, by, path, body, sent)) };
  const headers = { 'content-type': 'application/json', ...signed, ...sent.headers };
  return raw(relay, path, sent.method ?? 'POST', headers, body);
}

export function raw(
  relay: { readonly url: string }, path: string, method: string, headers: OutgoingHttpHeaders, body: string,
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const asked = request(relay.url.replace('ws', 'http') + path, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text });
      });
    });
    asked.on('error', reject);
    asked.end(body);
  });
}
