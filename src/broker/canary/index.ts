/**
 * A proof that the relay still delivers what was asked of it: an event of our own through every subscription.
 * in: `Publisher`, `Upstream`, a clock for deadlines. out: `openCanary`.
 */
export { CANARY_KIND, openCanary } from './canary.ts';
export type { Canary } from './canary.ts';
