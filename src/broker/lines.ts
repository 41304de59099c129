/**
 * One at a time: actions that read a record before they replace it stand in line by the record's address, so that none
 * of them replaces what it has not read. Waiting is bounded; who leaves the line lets the next one in.
 */
import { within } from '../model/index.ts';
import type { Clock } from '../model/index.ts';

export interface Lines {
  /** The way out, once the address is free; undefined when it was not within `timeoutMs`. Leaving twice is once. */
  enter(address: string, timeoutMs: number): Promise<(() => void) | undefined>;
}

export function openLines(clock: Clock): Lines {
  /** The end of each line that somebody stands in. */
  const ends = new Map<string, Promise<void>>();

  return {
    async enter(address, timeoutMs) {
      const before = ends.get(address) ?? Promise.resolve();
      let leave = (): void => undefined;
      const left = new Promise<void>((resolve) => {
        leave = resolve;
      });
      const end = before.then(() => left);
      ends.set(address, end);
      void end.then(() => {
        if (ends.get(address) === end) ends.delete(address);
      });
      if ((await within(clock, timeoutMs, before)).status === 'settled') return leave;
      // Who gave up waiting holds nobody up.
      leave();
      return undefined;
    },
  };
}
