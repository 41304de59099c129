/**
 * The live signals that skep gives for an agent: its presence, and that it is writing. Ephemeral, paced, and the first to
 * give way: what cannot be sent now is not sent later.
 * in: `Publisher`, `Upstream`, a clock for deadlines. out: `openSignals`.
 */
export { MAX_TYPING, openSignals } from './signals.ts';
export type { Signals, SignalsOptions } from './signals.ts';
