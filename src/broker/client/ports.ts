/**
 * What a caller of the client gives and gets. Everything that can come of a call is a value; the client never rejects.
 *
 *   succeeded      a verdict: done, with an outcome that was checked against the request
 *   failed         a verdict: this submission had no effects; with `uncertain`, an earlier one may have had
 *   indeterminate  a verdict: effects may have happened, and only evidence can tell
 *   transport      no verdict; with `uncertain`, an attempt may have been executed all the same
 *   refused        nothing was sent: the arguments are not what the action takes
 *
 * NIP-BA "Result", "Execution and retries".
 */
import type { Refusal } from '../../model/index.ts';
import type { VerifiedEvent } from '../../nostr/index.ts';
import type {
  ActionName,
  DraftOf,
  FailedResult,
  IndeterminateResult,
  Outcome,
  RequestCode,
} from '../wire/index.ts';

/** The arguments of an action as a caller states them: ids in any accepted form, text not yet trimmed. */
export type ArgsOf<Name extends ActionName> = DraftOf<Name>['args'];

/** The messages of a page that are what they say: id and signature were checked. */
export interface VerifiedPage {
  readonly messages: readonly VerifiedEvent[];
  readonly nextCursor?: string;
  /** How many messages were left out because their id or signature is wrong. */
  readonly unverified: number;
}

export type OutcomeOf<Name extends ActionName> = Name extends 'channel.read' ? VerifiedPage : Outcome<Name>;

interface Answered {
  readonly requestId: string;
  /** A stored result was told again; nothing was executed for this submission. */
  readonly replayed: boolean;
}

export interface Succeeded<Name extends ActionName = ActionName> extends Answered {
  readonly status: 'succeeded';
  readonly action: Name;
  readonly outcome: OutcomeOf<Name>;
}

export interface Failed extends Answered {
  readonly status: 'failed';
  readonly error: FailedResult['error'];
  /** An earlier attempt of the same request may have been executed; this refusal does not disprove it. */
  readonly uncertain: boolean;
}

export interface Indeterminate extends Answered {
  readonly status: 'indeterminate';
  readonly error: IndeterminateResult['error'];
  readonly uncertain: true;
}

/**
 * `unreachable`: no connection. `timeout`: none in time, or no whole answer. `cut`: the connection ended in mid-answer.
 * `redirect`: answered with another place, which is never asked. `http`: an HTTP error without a verdict. `too_large`,
 * `invalid_result`: an answer that is none. `overloaded`: too many calls wait here. `aborted`: by the caller's signal.
 * `closed`: the client is.
 */
export type TransportReason =
  | 'unreachable'
  | 'timeout'
  | 'cut'
  | 'redirect'
  | 'http'
  | 'too_large'
  | 'invalid_result'
  | 'overloaded'
  | 'aborted'
  | 'closed';

export interface TransportFailure {
  readonly status: 'transport';
  readonly requestId: string;
  /** Of the last attempt. */
  readonly reason: TransportReason;
  readonly detail: string;
  /** How often the bytes were sent, or tried to be. */
  readonly attempts: number;
  /** False only when no attempt can have reached anybody. */
  readonly uncertain: boolean;
}

export type Refused = { readonly status: 'refused' } & Omit<Refusal<RequestCode>, 'ok'>;

export type SendResult<Name extends ActionName = ActionName> =
  | Succeeded<Name>
  | Failed
  | Indeterminate
  | TransportFailure;
export type CallResult<Name extends ActionName = ActionName> = SendResult<Name> | Refused;

/** One logical operation whose bytes are fixed: sending it again is a retry, and never a second operation. */
export interface FrozenRequest<Name extends ActionName = ActionName> {
  readonly status: 'frozen';
  readonly requestId: string;
  readonly action: Name;
}

export interface FreezeOptions {
  /** 1 to 128 bytes 0x21-0x7e, unique for each operation of the agent. By default 22 random characters. */
  readonly requestId?: string;
  /** The same request may have been sent before, by another client or program: a refusal then disproves nothing. */
  readonly sentBefore?: boolean;
}

export interface SendOptions {
  /** Ends the waiting, not what may be going on at the host: the result then is `transport`, and may be `uncertain`. */
  readonly signal?: AbortSignal;
}

export type CallOptions = FreezeOptions & SendOptions;

export interface BrokerClient {
  /** Where requests go. */
  readonly endpoint: string;
  /** Freezes and sends. Every call without a `requestId` is an operation of its own. */
  call<Name extends ActionName>(
    action: Name,
    args: ArgsOf<Name>,
    options?: CallOptions,
  ): Promise<CallResult<Name>>;
  /** `call` for an action and arguments that come from outside: a command line, a tool call. */
  callUntyped(action: string, args: unknown, options?: CallOptions): Promise<CallResult>;
  /** Validates, normalises and serialises once. */
  freeze<Name extends ActionName>(
    action: Name,
    args: ArgsOf<Name>,
    options?: FreezeOptions,
  ): FrozenRequest<Name> | Refused;
  /** Sends the bytes until there is a verdict or patience ends. Uncertainty is kept from one sending to the next. */
  send<Name extends ActionName>(request: FrozenRequest<Name>, options?: SendOptions): Promise<SendResult<Name>>;
  /** Ends every call under way as `closed` and lets go of every connection. Twice is once. */
  close(): void;
}
