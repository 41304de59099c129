/**
 * The relay in the box: a Nostr relay for one team, on one SQLite file.
 * in: src/model, src/nostr, src/store. out: `openRelay`, its options and limits. Holds one key, its own, and signs with
 * it only what it states about channels.
 */
export { openRelay } from './relay.ts';
export type { Relay, RelayOptions, RelayStats, SeedChannel } from './relay.ts';
export { DEFAULT_LIMITS } from './limits.ts';
export type { RelayLimits } from './limits.ts';
