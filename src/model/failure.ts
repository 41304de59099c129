/**
 * Every code a failure can carry, and what it becomes outside. One table, so that the exit code a script sees and the
 * word an operator greps for are decided in one place. Nobody reads a message to decide; they read `code`.
 *
 * A failure is the outside misbehaving (disk, network, child process). A refusal is a value, a bug throws as it is.
 */
export const FAILURES = {
  /** A demo step, a replay or a doctor's check was not seen to hold. */
  not_seen: { exit: 1 },
  /** Wrong words on the command line. */
  usage: { exit: 2 },
  /** A config, key or script file that cannot be used; the message names file, line and member. */
  config: { exit: 2 },
  /** A turn, fixture or other input that is refused; the message names file, line and path. */
  refused_input: { exit: 2 },
  /** There was no fixture to replay. */
  nothing_replayed: { exit: 3 },
  /** Another supervisor holds the data directory. */
  in_use: { exit: 4 },
  storage_full: { exit: 5 },
  storage_readonly: { exit: 5 },
  storage_corrupt: { exit: 5 },
  /** The database was written by a newer skep. */
  storage_newer: { exit: 5 },
  /** Another process keeps the database locked beyond the bounded wait. */
  storage_busy: { exit: 5 },
  storage_failed: { exit: 5 },
  /** No file or socket can be opened any more: the limit of this process (EMFILE) or of the system (ENFILE). */
  open_files: { exit: 5 },
  /** A port or socket cannot be listened on. */
  listen: { exit: 6 },
  /** No supervisor answers on the data directory's socket. */
  not_running: { exit: 7 },
  /** An action was refused and had no effects. */
  call_failed: { exit: 10 },
  /** An action may have had effects; only evidence can tell. */
  call_uncertain: { exit: 11 },
  /** No verdict on an action. */
  call_transport: { exit: 12 },
  /** Nothing waits for what the owner ordered, more than one thing does, or it is over. */
  nothing_waits: { exit: 13 },
  /** An order of the owner was sent, and nobody said what came of it. */
  unanswered: { exit: 14 },
  /** The owner was asked, and said no: nothing was changed. */
  declined: { exit: 15 },
  /** Nothing was changed: the editor failed or changed nothing, what is there now is not what the owner has seen, or could not be started. */
  not_changed: { exit: 15 },
  /** Something was stored or deleted, and it is not all, or not what counts. */
  partly_done: { exit: 16 },
  /** An agent program could not be started or did not behave; `AgentFailure` says how. */
  agent: { exit: 1 },
  /** The relay did not answer, or answered no. */
  relay: { exit: 1 },
  /** A second signal forced the end. */
  forced: { exit: 130 },
} as const satisfies Record<string, { readonly exit: number }>;

export type FailureCode = keyof typeof FAILURES;

/** A failure of the outside: a stable `code`, one line for people, the original as `cause`. */
export class Failure extends Error {
  readonly code: FailureCode;

  constructor(code: FailureCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = 'Failure';
    this.code = code;
  }
}

/** The exit code of whatever ended the program: a failure's own, 70 for a bug. */
export function exitCodeOf(error: unknown): number {
  return error instanceof Failure ? FAILURES[error.code].exit : 70;
}

/** A refusal: expected, decided, told as a value. `code` is stable, `detail` is for people and holds no secret. */
export interface Refusal<Code extends string = string> {
  readonly ok: false;
  readonly code: Code;
  readonly detail: string;
}

export function refuse<Code extends string>(code: Code, detail: string): Refusal<Code> {
  return { ok: false, code, detail };
}
