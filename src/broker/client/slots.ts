/** How many calls are under way at once; the others wait in order, and only so many. */
export interface Slots {
  /** True when a place is held: give it back with `leave`. False when the signal aborted first. */
  enter(signal: AbortSignal): Promise<boolean>;
  leave(): void;
  readonly waiting: number;
}

export function openSlots(count: number): Slots {
  let free = count;
  const waiting = new Set<() => void>();
  return {
    enter(signal) {
      if (signal.aborted) return Promise.resolve(false);
      if (free > 0) {
        free -= 1;
        return Promise.resolve(true);
      }
      return new Promise((resolve) => {
        const enter = (): void => {
          leaveQueue();
          resolve(true);
        };
        const abort = (): void => {
          leaveQueue();
          resolve(false);
        };
        const leaveQueue = (): void => {
          waiting.delete(enter);
          signal.removeEventListener('abort', abort);
        };
        waiting.add(enter);
        signal.addEventListener('abort', abort, { once: true });
      });
    },
    leave() {
      const [next] = waiting;
      if (next === undefined) free += 1;
      else next();
    },
    get waiting() {
      return waiting.size;
    },
  };
}
