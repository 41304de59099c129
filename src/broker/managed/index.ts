/**
 * Agents that agents make (NIP-BA "Managed agents"): their records, their keys, who owns whom, and who of them runs.
 * in: src/model, src/nostr, src/store, the journal's types. out: what the managed actions look at, and the roster.
 */
export { openKeyFiles } from './key-files.ts';
export { openManagedRows } from './rows.ts';
export { markDeleted, patchSettings } from './rows.ts';
export type { ManagedRecord, ManagedSettings } from './rows.ts';
export { below } from './lineage.ts';
export type { Configured } from './lineage.ts';
export { openRegistry } from './registry.ts';
export type { Held, Registry } from './registry.ts';
export { openRoster } from './roster.ts';
export type { Roster, RosterOptions } from './roster.ts';
