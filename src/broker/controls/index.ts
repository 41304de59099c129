/**
 * What an agent's owner orders by NIP-AO control frames.
 * in: kind 24200 events of the agent's connection. out: verified, opened frames, each once, also over a restart.
 */
export { openControls } from './controls.ts';
export type { Controls, ControlsOptions } from './controls.ts';
