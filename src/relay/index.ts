/**
 * The relay in the box: a Nostr relay for one team, on one SQLite file.
 * in: src/model, src/nostr, src/http, src/store. out: `openRelay` and its options. Holds one key, its own, and signs with
 * it only what it states about channels.
 */
export { openRelay } from './relay.ts';
export type { Relay, RelayOptions } from './relay.ts';
