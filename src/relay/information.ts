/** NIP-11: what the relay tells about itself before anybody connects. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Pubkey } from '../model/index.ts';
import type { RelayLimits } from './limits.ts';

/** `self` is the key that 39000-39002 and membership notices are signed with; readers hold them against it. */
export function relayInformation(name: string, self: Pubkey, limits: RelayLimits): Readonly<Record<string, unknown>> {
  return {
    name,
    description: 'A Nostr relay for one team: channels (NIP-29), authentication (NIP-42), durable answers.',
    self,
    supported_nips: [1, 9, 11, 29, 42, 45, 50, 98],
    software: 'skep',
    limitation: {
      max_message_length: limits.maxMessageBytes,
      max_subscriptions: limits.maxSubscriptions,
      max_filters: limits.maxFilters,
      max_limit: limits.maxLimit,
      default_limit: limits.defaultLimit,
      max_subid_length: limits.maxSubscriptionIdLength,
      max_event_tags: limits.maxTags,
      created_at_upper_limit: limits.maxFutureSec,
      auth_required: true,
      payment_required: false,
      restricted_writes: true,
    },
  };
}

/** Answers a plain HTTP request: the document for those who ask for it, a sentence for a browser. */
export function serveInformation(
  request: IncomingMessage, response: ServerResponse, information: Readonly<Record<string, unknown>>,
): void {
  // NIP-11: any web client may read it.
  response.setHeader('access-control-allow-origin', '*');
  response.setHeader('access-control-allow-headers', '*');
  response.setHeader('access-control-allow-methods', 'GET');
  if (request.method === 'OPTIONS') {
    response.writeHead(204).end();
  } else if (request.method !== 'GET') {
    response.writeHead(405, { allow: 'GET, OPTIONS' }).end();
  } else if (request.headers.accept?.includes('application/nostr+json') === true) {
    response.writeHead(200, { 'content-type': 'application/nostr+json' }).end(JSON.stringify(information));
  } else {
    response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
    response.end('This is a Nostr relay. Connect with a Nostr client.\n');
  }
}
