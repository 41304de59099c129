/**
 * The strict NIP-BA wire codec, pure.
 * in: received bytes, drafts of requests, results of actions. out: validated requests and results, refusals with the
 * request id when a verdict is owed, the bytes to send, the digest of a body, and the rules as data.
 */
export { readRequest, writeRequest, writeUntypedRequest } from './request.ts';
export type {
  BrokerRequest,
  DraftOf,
  RequestCode,
  RequestDraft,
  RequestOf,
  RequestReading,
  RequestRefusal,
  RequestWriting,
  UntypedDraft,
} from './request.ts';
export { parseResult, readResult, writeResult } from './result.ts';
export type {
  BrokerResult,
  FailedResult,
  IndeterminateResult,
  ResultReading,
  SucceededOf,
  SucceededResult,
} from './result.ts';
export { ACTION_NAMES, actionNamed, pageLimit } from './actions.ts';
export type { ActionName, Args, Outcome, WireEvent } from './actions.ts';
export type { Target } from './target.ts';
export { fromWireEvent, toWireEvent } from './events.ts';
export { ERROR_CODES } from './codes.ts';
export type { FailedCode, IndeterminateCode } from './codes.ts';
export { digestOf } from './digest.ts';
export { REQUEST_LIMITS, RESULT_LIMITS } from './limits.ts';
export type { BodyLimits } from './limits.ts';
