/**
 * The driver: from a feed of verified events to answered turns.
 * in: model, nostr, store, compiler, broker, acp. out: `openSupervisor`, what it takes and what it tells.
 */
export { openSupervisor } from './supervisor.ts';
export type { Supervisor } from './supervisor.ts';
export type { AgentSnapshot } from './snapshot.ts';
export type { AgentOptions } from './agent-options.ts';
export { noteLogger } from './note-log.ts';
export type { Note, Observer } from './notes.ts';
export type { ProfileFacts } from './directory.ts';
export type { GateSettings, RespondTo } from './gate.ts';
