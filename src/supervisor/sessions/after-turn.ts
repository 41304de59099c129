/** What is done with a session when a turn in it is over: kept in its process and on disk, left to another, or dropped. */
import type { PromptOutcome } from '../../acp/index.ts';
import type { EventId, Milliseconds } from '../../model/index.ts';
import type { Batch } from '../inbox/entry.ts';
import type { Life } from '../life.ts';
import { hasRead, sessionEnd } from './end.ts';
import type { TurnMark } from './end.ts';
import type { LaneSession } from './lane-session.ts';
import type { SessionMemory } from './memory.ts';

export interface EndedTurn extends TurnMark {
  readonly life: Life;
  readonly memory: SessionMemory;
  readonly batch: Batch;
  readonly session: LaneSession;
  readonly outcome: PromptOutcome;
  /** The prompt has left us. */
  readonly sent: boolean;
  /** What the agent knows now beside the events of the batch: history that it was shown, and what it has published. */
  readonly known: readonly EventId[];
  /** Turns of a session before a fresh one begins; 0 for no end. */
  readonly maxTurns: number;
  readonly now: Milliseconds;
}

export function afterTurn(turn: EndedTurn): void {
  const { life, memory, batch, session, outcome, sent, known, maxTurns, now } = turn;
  session.usedAtMs = now;
  if (outcome.status === 'ended') session.turns += 1;
  const isUsedUp = maxTurns > 0 && session.turns >= maxTurns;
  const end = sessionEnd(outcome, turn);
  if (end === 'kept' && !isUsedUp) {
    if (!hasRead(outcome, sent)) return;
    session.standingSent = true;
    session.delivered.add([...batch.entries.map(({ eventId }) => eventId), ...known]);
    // What its program would not go on with is not worth a commit.
    if (life.process.reopens !== 'none') memory.keep(batch, session);
    return;
  }
  life.forget(batch.lane);
  if (end !== 'lost') memory.forget(batch.lane, session.sessionId);
}
