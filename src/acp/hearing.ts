/**
 * Whom it is for, what the agent of one process says: the turn that runs in the session, the session's settings, its
 * usage, a steer on its way. An update counts only for the turn that runs in its session; before and after a turn it goes
 * nowhere.
 */
import type { Dialect } from '../../adapters/index.ts';
import type { ConnectionEvents } from './connection.ts';
import type { PromptRequest } from './ports.ts';
import type { SessionBook } from './session-book.ts';
import { fails } from './signs.ts';
import type { Steering } from './steering.ts';
import type { Turn } from './turn.ts';
import type { UsageBook } from './usage.ts';

/** A turn, from its prompt until its outcome is told. */
export interface OpenTurn {
  readonly turn: Turn;
  readonly request: PromptRequest;
}

export interface HearingParts extends Pick<ConnectionEvents, 'onPermission' | 'onBroken'> {
  /** By session. */
  readonly turns: ReadonlyMap<string, OpenTurn>;
  readonly sessions: SessionBook;
  readonly usage: UsageBook;
  readonly steering: Steering;
  readonly dialect: Dialect;
  /** The agent sent a frame. */
  readonly onHeard: () => void;
  readonly onTurnEnded: () => void;
}

export function openHearing({
  turns, sessions, usage, steering, dialect, onPermission, onBroken, onHeard, onTurnEnded,
}: HearingParts): ConnectionEvents {
  const turnIn = (sessionId: string): Turn | undefined => turns.get(sessionId)?.turn;
  return {
    onFrame: (sessionId, progresses) => {
      if (progresses === true && sessionId !== undefined) turnIn(sessionId)?.take({ type: 'line' });
      onHeard();
    },
    onUpdate: (sessionId, update) => {
      const isSetting = sessions.hear(sessionId, update);
      return turnIn(sessionId)?.update(update) === true || isSetting;
    },
    onPermission,
    onOther: (sessionId, word) => {
      usage.heard(sessionId, word);
      const turn = turnIn(sessionId);
      if (word.type !== 'update' || turn === undefined) return;
      steering.heard(sessionId, word.update);
      turn.sign(fails(word.update, dialect.failureSigns));
    },
    onPromptAnswered: (sessionId) => {
      turnIn(sessionId)?.seal();
      onTurnEnded();
    },
    onSteerAnswered: (sessionId) => {
      steering.answered(sessionId, turnIn(sessionId));
      onHeard();
    },
    onPromptSent: (sessionId) => turns.get(sessionId)?.request.onSent?.(),
    onBroken,
  };
}
