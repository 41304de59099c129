/**
 * The relay's own key, as it says itself (NIP-11 `self`, read over HTTP where the WebSocket is): what it states about
 * channels and membership is signed with it. Bounded in time and size, asked again after a while, and remembered when a
 * later answer fails to come. A relay that publishes none, or does not answer, has none.
 */
import { request as requestHttp } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { asPubkey, later } from '../../model/index.ts';
import type { Clock, Milliseconds, Pubkey } from '../../model/index.ts';
import { INFORMATION_FRESH_MS, INFORMATION_RETRY_MS, INFORMATION_TIMEOUT_MS, MAX_INFORMATION_BYTES } from './limits.ts';

export interface RelaySelf {
  /** Resolves in bounded time; never rejects. */
  key(): Promise<Pubkey | undefined>;
  /** Ends a question under way. Twice is once. */
  close(): void;
}

export function openRelaySelf({ url, clock }: { readonly url: string; readonly clock: Clock }): RelaySelf {
  const closing = new AbortController();
  let known: Pubkey | undefined;
  let freshUntilMs: Milliseconds | undefined;
  let asking: Promise<void> | undefined;

  async function ask(): Promise<void> {
    const answer = await readSelf(url, clock, closing.signal);
    known = answer ?? known;
    freshUntilMs = later(clock.now(), answer === undefined ? INFORMATION_RETRY_MS : INFORMATION_FRESH_MS);
    asking = undefined;
  }

  return {
    async key() {
      if (!closing.signal.aborted && (freshUntilMs === undefined || clock.now() >= freshUntilMs)) await (asking ??= ask());
      return known;
    },
    close() {
      closing.abort();
    },
  };
}

/** Undefined for whatever is not a document with a key, and after the time. */
async function readSelf(url: string, clock: Clock, signal: AbortSignal): Promise<Pubkey | undefined> {
  const slow = new AbortController();
  const cancel = clock.wake(later(clock.now(), INFORMATION_TIMEOUT_MS), () => { slow.abort(); });
  try {
    const text = await readDocument(url, AbortSignal.any([signal, slow.signal]));
    const document: unknown = JSON.parse(text);
    const isObject = typeof document === 'object' && document !== null;
    return isObject && 'self' in document && typeof document.self === 'string' ? asPubkey(document.self) : undefined;
  } catch {
    return undefined;
  } finally {
    cancel();
  }
}

async function readDocument(url: string, signal: AbortSignal): Promise<string> {
  const target = url.replace(/^ws/, 'http');
  const request = target.startsWith('https:') ? requestHttps : requestHttp;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    // A connection of its own, gone with the answer.
    request(target, { agent: false, signal, headers: { accept: 'application/nostr+json' } }, resolve)
      .on('error', reject)
      .end();
  });
  try {
    if (response.statusCode !== 200) throw new Error('no document');
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of response) {
      if (!Buffer.isBuffer(chunk)) throw new Error('no bytes');
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_INFORMATION_BYTES) throw new Error('too long');
    }
    return Buffer.concat(chunks).toString('utf8');
  } finally {
    response.destroy();
  }
}
