/**
 * One agent's relay connection: NIP-42, reconnection, subscriptions, publication of already signed events.
 * in: src/model, src/nostr, a URL, a signer of AUTH events, clock, chance and log. out: `openUpstream`, `openRelaySelf`, the `Upstream`
 * port and its words, `normalizeRelayUrl`.
 */
export { openUpstream } from './driver.ts';
export { openRelaySelf } from './information.ts';
export type { RelaySelf } from './information.ts';
export type {
  Socket, SocketHandlers, SubscriptionSpec, Upstream, UpstreamOptions,
} from './ports.ts';
export { normalizeRelayUrl } from './url.ts';
