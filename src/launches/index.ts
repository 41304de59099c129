/**
 * Agents that are started with what their owner says on the relay (NIP-AP "Launch composition", "Launch records").
 * in: src/model, the flows of src/persona, the owner's relay of src/owner, an agent's memory from src/broker, the store.
 * out: when an agent may be started and with which texts, what it was started with, what it would be now.
 * Never: publishes or signs in the owner's name; changes an agent that runs.
 */
export { openAccess } from './access.ts';
export { openLaunches } from './launches.ts';
export type { Launches } from './launches.ts';
export type { LaunchSnapshot } from './snapshot.ts';
export type { LaunchStart, LaunchTarget } from './target.ts';
