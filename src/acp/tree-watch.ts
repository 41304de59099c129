/**
 * Keeps the memory of an agent's descendants fresh while it works: a look at its tree a little after it said something,
 * and one whenever a turn ends. An agent that is silent costs nothing.
 */
import { later } from '../model/index.ts';
import type { Clock } from '../model/index.ts';

interface TreeWatch {
  /** The agent said something. Called for every frame. */
  readonly heard: () => void;
  /** A turn ended: what lives on is to be remembered at once. */
  readonly turnEnded: () => void;
  readonly release: () => void;
}

export function treeWatch(clock: Clock, everyMs: number, look: () => void): TreeWatch {
  let disarm: (() => void) | undefined;
  let released = false;
  return {
    heard() {
      if (released || disarm !== undefined) return;
      disarm = clock.wake(later(clock.now(), everyMs), () => {
        disarm = undefined;
        look();
      });
    },
    turnEnded: look,
    release() {
      released = true;
      disarm?.();
    },
  };
}
