/**
 * Every limit of this room, with unit, reason and what happens at it. Tests pass shorter ones; nothing else does.
 */
export interface AcpLimits {
  /** From spawn to the answer to `initialize`; then the start failed (`start_timeout`). */
  readonly startMs: number;
  /** For every request but the prompt; then the call is refused with `timeout`. */
  readonly callMs: number;
  /** For the choice of a model, which a turn may wait for; then the change is refused with `timeout`. */
  readonly modelMs: number;
  /** For the answer to a steer; then it is not known whether the agent has read it. Agents say so at once. */
  readonly steerMs: number;
  /** The same once its turn has ended. */
  readonly steerLateMs: number;
  /** How long the agent may leave our bytes unread in its stdin; then the process ends as `protocol`. */
  readonly writeMs: number;
  /** Bytes that wait for the agent to read them; beyond, the process ends as `protocol`. */
  readonly maxUnreadBytes: number;
  /** Bytes of one line of stdout; a longer line ends the process as `protocol`, and its bytes are not kept. */
  readonly maxLineBytes: number;
  /** Lines a minute that are no frame of ours to handle; beyond, the process ends as `protocol`. */
  readonly maxInvalidPerMinute: number;
  /** Bytes of stderr kept for the error text. */
  readonly maxStderrBytes: number;
  /** Bytes of message text kept of a turn; the rest is dropped and `textCut` says so. */
  readonly maxTextBytes: number;
  /** From `session/cancel` to the answer of the prompt; then the group is killed. */
  readonly cancelGraceMs: number;
  /** The same after an idle timeout: an agent that was silent is given longer. */
  readonly idleCancelGraceMs: number;
  /** How long the answers to `session/close` are waited for before stdin ends; a part of the time that its end is given. */
  readonly closeMs: number;
  /** From the end of stdin to SIGTERM. Real agents end within 2 s, or never. */
  readonly stdinGraceMs: number;
  /** From SIGTERM to SIGKILL. */
  readonly termGraceMs: number;
  /** How long a SIGKILL may take to show, for those forked meanwhile too; then `ended` settles all the same. */
  readonly killWaitMs: number;
  /** From a word of the agent to a look at what it has started, and so at most one look in this time. */
  readonly watchTreeMs: number;
  /** From exit to the last bytes of stdout: a grandchild may hold the pipe open for ever. Calls fail after this. */
  readonly drainMs: number;
}

export const DEFAULT_LIMITS: AcpLimits = {
  startMs: 60_000,
  callMs: 60_000,
  modelMs: 20_000,
  steerMs: 10_000,
  steerLateMs: 1_000,
  writeMs: 30_000,
  maxUnreadBytes: 64 * 1024 * 1024,
  maxLineBytes: 10_000_000,
  maxInvalidPerMinute: 1_000,
  maxStderrBytes: 64 * 1024,
  maxTextBytes: 64 * 1024,
  cancelGraceMs: 5_000,
  idleCancelGraceMs: 30_000,
  closeMs: 1_000,
  stdinGraceMs: 3_000,
  termGraceMs: 3_000,
  killWaitMs: 3_000,
  watchTreeMs: 2_000,
  drainMs: 250,
};
