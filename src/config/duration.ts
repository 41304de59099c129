/** Durations as people write them: a whole number and a unit, such as `250ms`, `90s`, `5m`, `2h` or `1d`. */
const UNITS: readonly (readonly [unit: string, ms: number])[] = [
  ['d', 86_400_000], ['h', 3_600_000], ['m', 60_000], ['s', 1_000], ['ms', 1],
];

/** `text` in milliseconds, or undefined. Always a safe integer; bounds are the caller's. */
export function parseDuration(text: string): number | undefined {
  const [, digits, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text.trim()) ?? [];
  const factor = UNITS.find(([name]) => name === unit)?.[1];
  return digits === undefined || factor === undefined ? undefined : Number(digits) * factor;
}

/** The largest unit that says `ms` as a whole number. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0s';
  const [unit, factor] = UNITS.find(([, size]) => ms % size === 0) ?? ['ms', 1];
  return `${ms / factor}${unit}`;
}
