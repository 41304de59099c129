/** What a conversation with an agent program has to know before it begins, as data. The program's own word rules over it. */
import type { UsageShape } from './usage.ts';

export interface Dialect {
  readonly standing: StandingRole;
  readonly usage: UsageShape;
  /** What was said in a session comes again also after the answer to `session/load`, and could pass for new: none is loaded. */
  readonly replaysLate?: boolean;
  /** The mode in which it asks before it acts. Set in each new session that offers it and is in another. */
  readonly startMode?: string;
  /** While such an update is its last word of that kind, a turn that "ends" has failed. */
  readonly failureSigns?: readonly UpdateSign[];
  /** What an error of its model's provider reads like, in its words: those of an error it answers, or of a turn that failed by a sign. */
  readonly errorSigns?: readonly ErrorSign[];
  /** Message chunks that are the program's own remarks, and none of the model's words. */
  readonly remarkSigns?: readonly UpdateSign[];
}

/**
 * How the standing text (workspace, base, system, ...) reaches the model.
 * `capability`: in session/new as `systemPrompt` content where the agent's sessionCapabilities name it, else as
 * `first-message`. `meta-append`: in session/new as `_meta.systemPrompt.append`. `goose-method`: by
 * `_goose/unstable/session/system-prompt/set` after session/new; as `first-message` where there is no such method.
 * `first-message`: as a text block of its own before the envelope, in the first prompt of each session.
 */
export type StandingRole = 'capability' | 'meta-append' | 'goose-method' | 'first-message';

/**
 * `login`: nobody is logged in, and no retry mends it. `limit`: the provider takes no more requests for now. `pattern` is
 * a regular expression, found anywhere in either case. `inAnswer`: also where a turn "ends" and what it said begins so;
 * where that may be followed by an answer, the pattern has to reach to the end (`$`).
 */
export interface ErrorSign {
  readonly means: 'login' | 'limit';
  readonly pattern: string;
  readonly inAnswer?: boolean;
}

/** A `session/update` of the kind `update` that has this text at this path. */
export interface UpdateSign {
  readonly update: string;
  readonly path: readonly string[];
  readonly value: string;
}
