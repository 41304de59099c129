/**
 * Results of NIP-BA: `writeResult` for a host, `readResult` for a client. A client accepts a verdict only when its
 * whole shape, its status/code pair and everything it must have in common with the request hold ("Result"); anything
 * else is a transport failure, which says nothing about whether the operation ran. `parseResult` checks all but the
 * correlation: for a host that reads back what it stored. Event ids and signatures are not checked here.
 */
import { refuse, unreachable } from '../../model/index.ts';
import type { Refusal } from '../../model/index.ts';
import { actionNamed, ACTION_NAMES, rulesOf } from './actions.ts';
import type { ActionName, Outcome } from './actions.ts';
import { ERROR_CODES } from './codes.ts';
import type { FailedCode, IndeterminateCode } from './codes.ts';
import { accept, describe, mismatch } from './field.ts';
import type { Field, Reading } from './field.ts';
import { readJson } from './json.ts';
import type { JsonObject, JsonValue } from './json.ts';
import { RESULT_LIMITS } from './limits.ts';
import type { BodyLimits } from './limits.ts';
import type { BrokerRequest } from './request.ts';
import { oneOf, requestId, string } from './scalars.ts';
import { flag, object, version, word } from './shape.ts';

/** Delivery metadata: true when a stored result is told again. It is never stored, and omitted when false. */
interface Delivery {
  readonly requestId: string;
  readonly replayed?: boolean;
}

export interface SucceededOf<Name extends ActionName> extends Delivery {
  readonly status: 'succeeded';
  readonly action: Name;
  readonly outcome: Outcome<Name>;
}
export type SucceededResult = { readonly [Name in ActionName]: SucceededOf<Name> }[ActionName];

/** This submission had no effects. `message` is for operators and holds no key, credential or decrypted payload. */
export interface FailedResult extends Delivery {
  readonly status: 'failed';
  readonly error: { readonly code: FailedCode; readonly message: string };
}

/** Effects may have happened; only evidence can tell. */
export interface IndeterminateResult extends Delivery {
  readonly status: 'indeterminate';
  readonly error: { readonly code: IndeterminateCode; readonly message: string };
}

export type BrokerResult = SucceededResult | FailedResult | IndeterminateResult;
export type ResultReading = { readonly ok: true; readonly result: BrokerResult } | Refusal<'transport_failure'>;

const common = { type: word('broker_result'), protocolVersion: version(1), requestId };

const FAILED = object({
  ...common,
  status: oneOf('failed'),
  replayed: flag,
  error: object({ code: oneOf(...ERROR_CODES.failed), message: string }),
});

const INDETERMINATE = object({
  ...common,
  status: oneOf('indeterminate'),
  replayed: flag,
  error: object({ code: oneOf(...ERROR_CODES.indeterminate), message: string }),
});

function succeeded(name: ActionName): Field<unknown> {
  return object({
    ...common,
    status: oneOf('succeeded'),
    replayed: flag,
    action: oneOf(name),
    outcome: rulesOf(name).outcome,
  });
}

const SUCCEEDED = new Map(ACTION_NAMES.map((name) => [name, succeeded(name)]));

function succeededOf(name: ActionName): Field<unknown> {
  return SUCCEEDED.get(name) ?? succeeded(name);
}

/**
 * A result as text, to be sent in UTF-8: members in one stable order, `replayed` omitted when false. Throws (a bug) for
 * what the wire cannot carry: an unpaired surrogate, an integer beyond its width.
 */
export function writeResult(result: BrokerResult): string {
  switch (result.status) {
    case 'succeeded':
      return succeededOf(result.action).write(result);
    case 'failed':
      return FAILED.write(result);
    case 'indeterminate':
      return INDETERMINATE.write(result);
    default:
      return unreachable(result);
  }
}

/** Reads a body as a result of any request. Total: any bytes give a result or a refusal. */
export function parseResult(bytes: Uint8Array, limits: BodyLimits = RESULT_LIMITS): ResultReading {
  const json = readJson(bytes, limits);
  if (!json.ok) return failure(json.detail);
  if (json.flaw !== undefined) return failure(json.flaw);
  if (json.value.type !== 'object') return failure(mismatch('body', describe(json.value), 'an object').detail);
  const read = readTop(json.value);
  return read.ok ? { ok: true, result: read.value } : failure(read.detail);
}

/**
 * Reads a body as the verdict on `request`. A transport failure is no verdict: the operation may have run, and only
 * a retry of the identical bytes may ask again.
 */
export function readResult(
  bytes: Uint8Array,
  request: BrokerRequest,
  limits: BodyLimits = RESULT_LIMITS,
): ResultReading {
  const parsed = parseResult(bytes, limits);
  const disagreement = parsed.ok ? disagreementOf(parsed.result, request) : undefined;
  return disagreement === undefined ? parsed : failure(disagreement);
}

/** A member that is not there: no status and no action is of this type either. */
const ABSENT: JsonValue = { type: 'null' };

function readTop(top: JsonObject): Reading<BrokerResult> {
  const status = top.members.get('status') ?? ABSENT;
  switch (status.type === 'string' ? status.text : undefined) {
    case 'succeeded':
      return readSuccess(top);
    case 'failed':
      return FAILED.read(top, '');
    case 'indeterminate':
      return INDETERMINATE.read(top, '');
    default:
      return mismatch('status', describe(status), 'succeeded | failed | indeterminate');
  }
}

function readSuccess(top: JsonObject): Reading<BrokerResult> {
  const action = top.members.get('action') ?? ABSENT;
  const name = action.type === 'string' ? actionNamed(action.text) : undefined;
  if (name === undefined) return mismatch('action', describe(action), 'a known action');
  const read = succeededOf(name).read(top, '');
  return read.ok ? accept(read.value as SucceededResult) : read; // read by the shape of this very action
}

/** What `result` lacks to be an answer to `request`, or undefined. */
function disagreementOf(result: BrokerResult, request: BrokerRequest): string | undefined {
  if (result.requestId !== request.requestId) return 'requestId: found another one, expected the one that was sent';
  if (result.status !== 'succeeded') return undefined;
  if (result.action !== request.action) return `action: found ${result.action}, expected ${request.action}`;
  const wrong = rulesOf(request.action).agrees(request.args, result.outcome);
  return wrong === undefined ? undefined : `outcome.${wrong}`;
}

function failure(detail: string): Refusal<'transport_failure'> {
  return refuse('transport_failure', detail);
}
