/**
 * What an owner knows, as values.
 * in: src/model, src/nostr, src/cards; pure. out: readers of events and telemetry, the machine, its words.
 */
export { nextWakeMs, step } from './machine.ts';
export { cardIn, editIn, FRAME_KIND, FRAME_WINDOW_SEC, isTelemetryFor } from './sightings.ts';
export type { CardSighting } from './sightings.ts';
export { readTelemetry } from './telemetry.ts';
export { decidable, INITIAL, MAX_RING } from './view.ts';
export type { Input, Note, Permission, View } from './view.ts';
