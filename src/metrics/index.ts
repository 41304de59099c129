/**
 * What a turn has used (NIP-AM), from an agent's own words to the payload for its owner. Pure.
 * in: the words of an agent, read by the shape its profile names; the compiler's manifest. out: a meter for each session,
 * the text of a metric.
 */
export { beginTurn, endTurn, hear, openMeter } from './meter.ts';
export type { ObservedUsage, SessionMeter } from './meter.ts';
export { metricText } from './payload.ts';
export type { MetricStopReason, TurnMetric } from './payload.ts';
export type { Counters } from './counters.ts';
export type { UsageWord } from './read.ts';
