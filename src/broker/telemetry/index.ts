/**
 * What an agent's owner may watch (NIP-AO telemetry): frames on their way out, sealed to the owner.
 * in: frames. out: kind 24200 events, paced, best effort; one draft at a time for the journal.
 */
export { frameBytes, MAX_FRAME_BYTES } from './frame.ts';
export { openTelemetry } from './telemetry.ts';
export type { Room, Telemetry, TelemetryOptions } from './telemetry.ts';
