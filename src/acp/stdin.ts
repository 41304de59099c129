/**
 * Our lines into the agent's stdin. What the agent does not read waits in memory: for so long and up to so many bytes,
 * then it is not taking part in the conversation. A pipe that breaks (the child ended, before, during or after a long
 * prompt) is an ordinary end, never an unhandled error.
 */
import type { Writable } from 'node:stream';
import { later } from '../model/index.ts';
import type { Clock } from '../model/index.ts';
import type { AcpLimits } from './limits.ts';

interface StdinParts {
  readonly stream: Writable;
  readonly clock: Clock;
  readonly limits: Pick<AcpLimits, 'writeMs' | 'maxUnreadBytes'>;
  /** The agent leaves our bytes unread. */
  readonly onStuck: (detail: string) => void;
  /** The pipe is closed at the other side. */
  readonly onClosed: () => void;
}

interface Stdin {
  /** `done` is told once whether the bytes have left us; false also when that is not known. */
  readonly write: (line: string, done?: (written: boolean) => void) => void;
  /** Ends the pipe after what was written. Twice is once. */
  readonly end: () => void;
  /** Stops waiting for the agent to read. */
  readonly release: () => void;
}

export function openStdin({ stream, clock, limits, onStuck, onClosed }: StdinParts): Stdin {
  let unread = 0;
  let disarm: (() => void) | undefined;
  stream.on('error', onClosed);

  const release = (): void => {
    disarm?.();
    disarm = undefined;
  };
  const arm = (): void => {
    release();
    if (unread === 0) return;
    disarm = clock.wake(later(clock.now(), limits.writeMs), () => {
      onStuck(`it read nothing from its stdin for ${limits.writeMs} ms`);
    });
  };
  return {
    write(line, done) {
      if (!stream.writable) {
        done?.(false);
        return;
      }
      unread += 1;
      if (disarm === undefined) arm();
      stream.write(line, (error) => {
        unread -= 1;
        if (error === null || error === undefined) {
          arm();
          // A pipe that is torn down while it writes reports the write as done.
          done?.(!stream.destroyed);
        } else {
          if (unread === 0) release();
          done?.(false);
        }
      });
      const { writableLength } = stream;
      if (writableLength > limits.maxUnreadBytes) onStuck(`it left ${writableLength} bytes of its stdin unread`);
    },
    end() {
      if (stream.writable) stream.end();
    },
    release,
  };
}
