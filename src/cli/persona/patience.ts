/** Work that is tried until it is done: the first signal stops it between two steps, the second ends the program. */
import type { Patience } from '../../persona/index.ts';
import { steadyClock } from '../../system/index.ts';
import { tell } from '../print.ts';
import { exitCodeFor, watchSignals } from '../signals.ts';

export async function patiently<T>(work: (patience: Patience) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const unwatch = watchSignals({
    first: () => {
      tell('stopping; what is left stays as it is');
      stop.abort();
    },
    second: (signal) => process.exit(exitCodeFor(signal)),
  });
  try {
    return await work({
      clock: steadyClock, signal: stop.signal,
      onPause: (pauseMs) => tell(`the relay has not done it yet; again in ${Math.ceil(pauseMs / 1_000)} s, Ctrl-C stops`),
    });
  } finally {
    unwatch();
  }
}
