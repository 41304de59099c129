/** What an agent's permission requests are to whoever answers them: the request, its one answer, and the desk between. */
import type { Milliseconds } from '../model/index.ts';

/** A permission request as it came, options unchecked. `id` keeps the agent's own JSON type (7, "7", 0, ""). */
export interface PermissionRequest {
  readonly id: string | number;
  readonly sessionId: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** The answer in ACP's own form. */
export type PermissionAnswer =
  | { readonly outcome: 'selected'; readonly optionId: string }
  | { readonly outcome: 'cancelled' };

/** A request as it is put to the desk of its process. */
export interface IncomingRequest extends PermissionRequest {
  /** The line it stood in, without its line break. */
  readonly line: string;
  /** The turn that its session is in, where it has a name. */
  readonly turn?: RequestTurn;
}

export interface RequestTurn {
  readonly turnId: string;
  readonly hardDeadline: Milliseconds;
  /** We end the turn, or the agent has ended it: nothing of it is granted any more. */
  readonly cancelling: boolean;
}

/**
 * The one answer to a request, under its very id; a second one is a bug and throws. Resolves when the pipe has taken it,
 * or is known not to; never rejects. `line` is the answer as it was written, without its line break.
 */
export type PermissionReply = (answer: PermissionAnswer) => Promise<{ readonly written: boolean; readonly line: string }>;

/** `cancelled`: its turn was cancelled while the answer was on its way. `unread`: the agent did not take it in time. */
export type PoisonCause = 'cancelled' | 'unread';

/** Who answers what one process asks, now or later. Every call is synchronous and quick. */
export interface PermissionDesk {
  requested(request: IncomingRequest, reply: PermissionReply): void;
  /** The agent was asked to end this turn; `overtime` when its hard timeout was the reason. */
  turnCancelled(turnId: string, overtime: boolean): void;
  /** The turn has ended, however. */
  turnOver(turnId: string): void;
  /** The process is asked to end. */
  stopping(): void;
  /** The process has ended: no answer arrives any more. */
  ended(): void;
}

/** What a desk may do to its process beside answering. */
export interface PermissionDoors {
  /** The idle timeout of the session's turn stands still; the hard one does not. */
  suspendIdle(sessionId: string): void;
  /** It begins anew. */
  resumeIdle(sessionId: string): void;
  /** Ends every turn of the process as `permission_poisoned`, and the process. Nothing is written to it from here on. */
  poison(cause: PoisonCause): void;
}

/** Called once for each process, before its first line is read. */
export type OpenPermissionDesk = (doors: PermissionDoors) => PermissionDesk;
