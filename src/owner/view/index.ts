/**
 * What an owner knows, as values.
 * in: src/model, src/nostr, src/cards; pure. out: readers of events and telemetry, the machine, its words.
 */
export { nextWakeMs, step } from './machine.ts';
export { cardIn, editIn, FRAME_KIND, FRAME_WINDOW_SEC, isTelemetryFor } from './sightings.ts';
export type { CardSighting } from './sightings.ts';
export { COUNTERS, METRIC_KIND, readMetric } from './metric.ts';
export type { Metric } from './metric.ts';
export { GROUPS, sumUsage } from './usage.ts';
export type { Group, OfAgent, UsageRow } from './usage.ts';
export { membersOf, readTelemetry, textOf } from './telemetry.ts';
export { decidable, INITIAL, MAX_RING } from './view.ts';
export type { Input, Note, Permission, View } from './view.ts';
