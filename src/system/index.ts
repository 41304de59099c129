/**
 * The real clock and the real randomness.
 * in: src/model. out: `systemClock`, `systemRandom`; only a composition root hands them on, tests hold their own.
 */
export { systemClock } from './clock.ts';
export { systemRandom } from './random.ts';
