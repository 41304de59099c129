/**
 * The owner's side of NIP-AO: watching agents, deciding their requests, giving them orders.
 * in: src/model, src/nostr, src/cards, the ports of src/persona, the relay connection of src/broker; the owner's key, a
 * relay URL, agents.
 * out: keys, the desk, what is ordered at it, and what it knows; the relay that src/persona is given. The desk and the key
 * behind it are in a process of their own; a supervisor opens the relay alone, and at most a line to a signer.
 */
export { isBunker, parseBunker } from './bunker-pointer.ts';
export { openBunker } from './bunker.ts';
export type { BunkerOptions } from './bunker.ts';
export { decide, MIN_PREFIX_CHARACTERS, order } from './decide.ts';
export type { Decided, OrderRefusal } from './decide.ts';
export { openDesk } from './desk.ts';
export type { Desk } from './desk.ts';
export { openPersonaRelay } from './persona-relay.ts';
export type { OwnerRelay } from './persona-relay.ts';
export { openLocalKey } from './key.ts';
export type { OwnerKey } from './key.ts';
export { readMetrics } from './metrics.ts';
export { COUNTERS, GROUPS, sumUsage } from './view/index.ts';
export type { Group, UsageRow } from './view/index.ts';
export { FRAME_KIND } from './view/index.ts';
export { decidable } from './view/index.ts';
export type { Note, Permission } from './view/index.ts';
