/**
 * What an agent's stdout holds besides frames for us, counted, and bounded: so many a minute, and the process is not
 * speaking the protocol. Echoes of our own answers are known by their text; an echoed request is known by its method.
 */
import type { Clock } from '../model/index.ts';

const WINDOW_MS = 60_000;
/** Our answers are short and rare; an echo comes back at once. */
const MAX_REMEMBERED = 256;

interface NoiseMeter {
  /** Counts one line. False when the limit of this minute is passed. */
  count(): boolean;
  readonly total: number;
}

/** A minute starts with its first noisy line: enough for a cap, and one number to keep. */
export function noiseMeter(maxPerMinute: number, clock: Clock): NoiseMeter {
  let total = 0;
  let inWindow = 0;
  let windowEndsMs = 0;
  return {
    count() {
      const now = clock.now();
      if (now >= windowEndsMs) {
        inWindow = 0;
        windowEndsMs = now + WINDOW_MS;
      }
      total += 1;
      inWindow += 1;
      return inWindow <= maxPerMinute;
    },
    get total() {
      return total;
    },
  };
}

interface EchoMemory {
  /** Remembers an answer we wrote. */
  wrote(line: string): void;
  /** Whether the agent just sent our own line back. Each echo is known once. */
  isEcho(line: string): boolean;
}

/**
 * Without it an echoing agent could end our own call: our answer to its request 1, sent back, reads as its answer to
 * our request 1.
 */
export function echoMemory(): EchoMemory {
  const lines = new Set<string>();
  return {
    wrote(line) {
      lines.delete(line);
      lines.add(line);
      const [oldest] = lines;
      if (lines.size > MAX_REMEMBERED && oldest !== undefined) lines.delete(oldest);
    },
    isEcho: (line) => lines.delete(line),
  };
}
