/**
 * Messages for a turn that is under way, in the two dialects there are: `_session/steering`, where the agent's answer to
 * `initialize` offers it, and goose's own method, where the agent has told the id of the run that it is in. Nothing is
 * decided by name.
 *
 * Fixed rule: an answer counts by where its line stands. Behind the line that answers the prompt it is too late: what was
 * given to a turn that has ended is not of that turn, whatever the agent says.
 */
import { excerpt, within } from '../model/index.ts';
import type { Clock } from '../model/index.ts';
import { isMembers } from './frames.ts';
import type { Connection } from './connection.ts';
import type { AcpLimits } from './limits.ts';
import type { SteerOutcome } from './ports.ts';
import type { CallResult } from './sdk-client.ts';
import { GOOSE_STEERING, SESSION_STEERING } from './steering-methods.ts';
import type { Turn } from './turn.ts';

interface SteeringParts {
  readonly call: Connection['calls']['call'];
  readonly clock: Clock;
  readonly limits: Pick<AcpLimits, 'steerMs' | 'steerLateMs'>;
  /** Redacted and shortened. */
  readonly detail: (message: string) => string;
}

/** Where the line of an answer stood. */
interface Mark {
  readonly tooLate: boolean;
  readonly textFrom: number;
}

export class Steering {
  /** The agent offers `_session/steering`. */
  offered = false;
  readonly #parts: SteeringParts;
  /** goose's runs by session, of turns under way. */
  readonly #runs = new Map<string, string>();
  readonly #marks = new Map<string, Mark>();

  constructor(parts: SteeringParts) {
    this.#parts = parts;
  }

  /** An update of a session; goose tells the run it is in, and null at its end. */
  heard(sessionId: string, update: unknown): void {
    const run = runIn(update);
    if (typeof run === 'string') this.#runs.set(sessionId, run);
    else if (run === null) this.#runs.delete(sessionId);
  }

  /** The line that answers a steer was met, in the turn of that session where one is under way. */
  answered(sessionId: string, turn: Turn | undefined): void {
    this.#marks.set(sessionId, { tooLate: turn?.running !== true || turn.closing, textFrom: turn?.text.length ?? 0 });
  }

  /** Whether a turn of the session that is under way could be given more. */
  can(sessionId: string): boolean {
    return this.offered || this.#runs.has(sessionId);
  }

  /** The turn of the session has ended. */
  over(sessionId: string): void {
    this.#runs.delete(sessionId);
  }

  /** One at a time in a session. Resolves in bounded time: soon after the end of the turn at the latest. */
  async steer(sessionId: string, text: string, turn: Turn): Promise<SteerOutcome> {
    const { clock, limits } = this.#parts;
    const run = this.#runs.get(sessionId);
    const prompt = [{ type: 'text', text }];
    this.#marks.delete(sessionId);
    const asked = run === undefined
      ? this.#parts.call(SESSION_STEERING, { sessionId, prompt, _meta: { steering: { idleBehavior: 'promptRequired' } } })
      : this.#parts.call(GOOSE_STEERING, { sessionId, expectedRunId: run, prompt });
    const waited = await Promise.race([
      within(clock, limits.steerMs, asked),
      turn.outcome.then(() => within(clock, limits.steerLateMs, asked)),
    ]);
    const mark = this.#marks.get(sessionId);
    this.#marks.delete(sessionId);
    if (waited.status === 'late') return { status: 'unanswered' };
    const outcome = this.#read(waited.value, run !== undefined, mark?.textFrom ?? 0);
    if (outcome.status !== 'injected') return outcome;
    if (mark === undefined || mark.tooLate) return { status: 'unanswered' };
    turn.take({ type: 'steered' });
    return outcome;
  }

  #read(called: CallResult, isGoose: boolean, textFrom: number): SteerOutcome {
    switch (called.status) {
      case 'closed':
        return { status: 'unanswered' };
      case 'error':
        return { status: 'refused', detail: this.#parts.detail(`error ${called.code}: ${called.message}`) };
      case 'result': {
        // Any success of goose's is one.
        if (isGoose) return { status: 'injected', textFrom };
        const outcome = isMembers(called.result) ? called.result['outcome'] : undefined;
        switch (outcome) {
          case 'injected':
            return { status: 'injected', textFrom };
          case 'startedNewTurn':
            return { status: 'new_turn' };
          case 'promptRequired':
            return { status: 'prompt_required' };
          default:
            return { status: 'refused', detail: `outcome: expected injected, startedNewTurn or promptRequired, found ${found(outcome)}` };
        }
      }
    }
  }
}

function found(outcome: unknown): string {
  return outcome === undefined ? 'nothing' : excerpt(JSON.stringify(outcome), 100);
}

/** `_meta.goose.activeRunId` of a `session_info_update`: an id, null, or undefined where it says nothing of it. */
function runIn(update: unknown): unknown {
  if (!isMembers(update) || update['sessionUpdate'] !== 'session_info_update') return undefined;
  const { _meta: meta } = update;
  const goose = isMembers(meta) ? meta['goose'] : undefined;
  return isMembers(goose) ? goose['activeRunId'] : undefined;
}
