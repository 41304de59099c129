/**
 * SIGINT, SIGTERM and SIGHUP (the terminal is gone) mean the same: the first asks for an orderly end, the second for
 * an end now, and the third does not ask any more.
 */
import { constants } from 'node:os';
import { systemClock } from '../system/index.ts';

export const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
export type EndSignal = (typeof SIGNALS)[number];

export interface SignalHandlers {
  readonly first: (signal: EndSignal) => void;
  readonly second: (signal: EndSignal) => void;
}

/**
 * One Ctrl-C can arrive twice: from the terminal and, forwarded, from a parent such as npm. The same signal again
 * within this time is the same wish.
 */
const SAME_PRESS_MS = 300;

/** Watches until the returned function is called; a third signal ends the process on the spot. */
export function watchSignals({ first, second }: SignalHandlers): () => void {
  let count = 0;
  let last: { readonly signal: EndSignal; readonly atMs: number } | undefined;
  const onSignal = (signal: EndSignal): void => {
    const atMs = systemClock.now();
    if (last?.signal === signal && atMs - last.atMs < SAME_PRESS_MS) return;
    last = { signal, atMs };
    count += 1;
    if (count === 1) first(signal);
    else if (count === 2) second(signal);
    // The way out of a program whose orderly and forced ends both hang.
    else process.exit(exitCodeFor(signal));
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return () => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
}

/** Resolves at the first signal; the second ends the process on the spot. */
export function firstSignal(): Promise<EndSignal> {
  return new Promise((resolve) => {
    watchSignals({
      first: resolve,
      second: (signal) => process.exit(exitCodeFor(signal)),
    });
  });
}

/** As a shell counts: 130 for SIGINT, 143 for SIGTERM. */
export function exitCodeFor(signal: EndSignal): number {
  return 128 + constants.signals[signal];
}
