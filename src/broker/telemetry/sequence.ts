/**
 * Where each session of an agent is in its count (NIP-AO `seq`, "monotonically increasing per session"): one number for
 * each session that has been told of in this run, and one for frames that belong to none. Each begins at 1.
 */
import { createHash } from 'node:crypto';

/**
 * Sessions counted. An agent has at most 32 processes with 256 sessions each, so that one is forgotten only when its
 * process has forgotten it long ago; should it be told of again all the same, its count begins anew.
 */
const MAX_SESSIONS = 8_192;
/** An agent chooses its session ids; a longer one is counted under its hash. */
const MAX_KEY_CHARACTERS = 128;
const NO_SESSION = '';

export interface Sequence {
  /** Whose count a frame of that session is in. */
  lane(sessionId: string | undefined): string;
  /** The next number of a lane: used up, whatever becomes of the frame. */
  next(lane: string): number;
}

export function openSequence(maxSessions = MAX_SESSIONS): Sequence {
  /** The least recently counted first. */
  const counts = new Map<string, number>();
  let none = 0;
  return {
    lane(sessionId = NO_SESSION) {
      return sessionId.length <= MAX_KEY_CHARACTERS ? sessionId : createHash('sha256').update(sessionId).digest('hex');
    },
    next(lane) {
      if (lane === NO_SESSION) {
        none += 1;
        return none;
      }
      const seq = (counts.get(lane) ?? 0) + 1;
      counts.delete(lane);
      counts.set(lane, seq);
      const [oldest] = counts.size > maxSessions ? counts.keys() : [];
      if (oldest !== undefined) counts.delete(oldest);
      return seq;
    },
  };
}
