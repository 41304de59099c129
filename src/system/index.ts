/**
 * The real clocks and the real randomness.
 * in: src/model. out: `systemClock` for stamps, `steadyClock` for deadlines, `systemRandom`; only a composition root
 * hands them on, tests hold their own.
 */
export { steadyClock, systemClock } from './clock.ts';
export { systemRandom } from './random.ts';
