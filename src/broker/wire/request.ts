/**
 * Requests of NIP-BA: `readRequest` for a host, `writeRequest` for a client. Both go through the same shapes, so a
 * client refuses exactly what a host would.
 *
 * A refusal carries `requestId` when the body has a usable one, and then a host owes a correlated verdict. Usable:
 * the body is JSON, an object at the top, with exactly one `requestId` member of 1 to 128 bytes 0x21-0x7e. A repeated
 * requestId names no operation and is not usable, even if both are equal.
 * Never decides who may do what, and never changes the bytes the digest is over.
 */
import { refuse } from '../../model/index.ts';
import type { Refusal } from '../../model/index.ts';
import { actionNamed, ACTION_NAMES, rulesOf } from './actions.ts';
import type { ActionName, Args } from './actions.ts';
import { digestOf } from './digest.ts';
import { treeOf } from './draft.ts';
import type { Draft } from './draft.ts';
import { describe, mismatch } from './field.ts';
import type { Field, Mismatch, Reading } from './field.ts';
import { readJson } from './json.ts';
import type { JsonObject, JsonValue } from './json.ts';
import { REQUEST_LIMITS } from './limits.ts';
import type { BodyLimits } from './limits.ts';
import { oneOf, requestId as requestIdField, string, u16 } from './scalars.ts';
import { object, version, word } from './shape.ts';
import { shown } from './text.ts';

/** One logical operation, validated and normalised: one member of the union for each action. */
export type BrokerRequest = { readonly [Name in ActionName]: RequestOf<Name> }[ActionName];
export interface RequestOf<Name extends ActionName> {
  readonly requestId: string;
  readonly action: Name;
  readonly args: Args<Name>;
}

/** A request as a caller states it: ids in any accepted form, text not yet trimmed. */
export type RequestDraft = { readonly [Name in ActionName]: DraftOf<Name> }[ActionName];
export interface DraftOf<Name extends ActionName> {
  readonly requestId: string;
  readonly action: Name;
  readonly args: Draft<Args<Name>>;
}

export interface UntypedDraft {
  readonly requestId: string;
  readonly action: string;
  readonly args: unknown;
}

export type RequestCode =
  | 'invalid_request'
  | 'unsupported_protocol_version'
  | 'unknown_action'
  | 'unsupported_action_version';

/** `requestId` is there exactly when a correlated verdict is owed. `detail` is fit for an error's `message`. */
export type RequestRefusal = Refusal<RequestCode> & { readonly requestId?: string };
/** `digest` is over the received bytes. */
export type RequestReading =
  | { readonly ok: true; readonly request: BrokerRequest; readonly digest: string }
  | RequestRefusal;
/** `bytes` are frozen: every retry sends these and no others. */
export type RequestWriting =
  | { readonly ok: true; readonly request: BrokerRequest; readonly bytes: Uint8Array; readonly digest: string }
  | Refusal<RequestCode>;

const VERSION = 1;

/** The envelope of one action, in the member order of the specification's example. */
function envelope(name: ActionName) {
  return object({
    type: word('broker_request'),
    protocolVersion: version(VERSION),
    requestId: requestIdField,
    actionVersion: version(VERSION),
    action: oneOf(name),
    args: rulesOf(name).args,
  });
}

const ENVELOPES = new Map(ACTION_NAMES.map((name) => [name, envelope(name)]));

function envelopeOf(name: ActionName): ReturnType<typeof envelope> {
  return ENVELOPES.get(name) ?? envelope(name);
}

/** Reads a body as one request. Total: any bytes give a request or a refusal. */
export function readRequest(bytes: Uint8Array, limits: BodyLimits = REQUEST_LIMITS): RequestReading {
  const json = readJson(bytes, limits);
  if (!json.ok) return refuse('invalid_request', json.detail);
  const top = json.value;
  if (top.type !== 'object') return invalid(mismatch('body', describe(top), 'an object'));
  const whole = readWhole(top, json.flaw);
  if (whole.ok) return { ok: true, request: requestOf(whole.value), digest: digestOf(bytes) };
  const id = readSole(top, 'requestId', requestIdField);
  if (!id.ok) return invalid(id);
  return { ...(strangenessOf(top) ?? invalid(whole)), requestId: id.value };
}

/** By the shape of the action it names, which leaves nothing to be asked of a request that has it. */
function readWhole(top: JsonObject, flaw: string | undefined): Reading<Uncorrelated> {
  if (flaw !== undefined) return { ok: false, detail: flaw };
  const action = readSole(top, 'action', string);
  if (!action.ok) return action;
  const name = actionNamed(action.value);
  return name === undefined ? strangeAction(action.value) : envelopeOf(name).read(top, '');
}

/**
 * The order of what is told: a strange protocol version may have other rules for everything below it, a strange action
 * another shape, so each is answered before what is wrong with the members it governs.
 */
function strangenessOf(top: JsonObject): Refusal<RequestCode> | undefined {
  const protocol = readSole(top, 'protocolVersion', u16);
  if (!protocol.ok) return invalid(protocol);
  if (protocol.value !== VERSION) {
    return refuse('unsupported_protocol_version', `protocolVersion: found ${protocol.value}, expected ${VERSION}`);
  }
  const action = readSole(top, 'action', string);
  if (!action.ok) return invalid(action);
  if (actionNamed(action.value) === undefined) return unknownAction(action.value);
  const actionVersion = readSole(top, 'actionVersion', u16);
  if (!actionVersion.ok) return invalid(actionVersion);
  return actionVersion.value === VERSION
    ? undefined
    : refuse('unsupported_action_version', `actionVersion: found ${actionVersion.value}, expected ${VERSION}`);
}

/** A member that stands exactly once; a repeated one says nothing. */
function readSole<T>(top: JsonObject, name: string, field: Field<T>): Reading<T> {
  const found: JsonValue | undefined = top.members.get(name);
  if (found === undefined) return mismatch(name, 'nothing', 'the member');
  return top.repeated.includes(name) ? mismatch(name, 'the member twice', 'once') : field.read(found, name);
}

interface Uncorrelated {
  readonly requestId: string;
  readonly action: ActionName;
  readonly args: unknown;
}

function requestOf(read: Uncorrelated): BrokerRequest {
  return read as BrokerRequest; // its args were read by the shape of this very action
}

function invalid({ detail }: Mismatch): Refusal<'invalid_request'> {
  return refuse('invalid_request', detail);
}

/**
 * Validates and normalises a draft and serialises it, once ("Execution and retries" 1). Members left undefined are
 * omitted, and so is an optional boolean that is false. Numbers must be integers; an empty `mentions` is refused.
 */
export function writeRequest(draft: RequestDraft): RequestWriting {
  return writeUntypedRequest(draft);
}

/** `writeRequest` for a caller whose action and arguments come from outside: a command line, a tool call. */
export function writeUntypedRequest(draft: UntypedDraft): RequestWriting {
  const given = treeOf(draft.requestId, 'requestId');
  if (!given.ok) return invalid(given);
  const id = requestIdField.read(given.value, 'requestId');
  if (!id.ok) return invalid(id);
  const named = treeOf(draft.action, 'action');
  if (!named.ok) return invalid(named);
  const action = string.read(named.value, 'action');
  if (!action.ok) return invalid(action);
  const name = actionNamed(action.value);
  if (name === undefined) return unknownAction(action.value);
  const tree = treeOf(draft.args);
  if (!tree.ok) return invalid(tree);
  const args = rulesOf(name).args.read(tree.value, 'args');
  if (!args.ok) return invalid(args);
  const request = requestOf({ requestId: id.value, action: name, args: args.value });
  const bytes = new TextEncoder().encode(envelopeOf(name).write(request));
  return { ok: true, request, bytes, digest: digestOf(bytes) };
}

function unknownAction(text: string): Refusal<'unknown_action'> {
  return refuse('unknown_action', strangeAction(text).detail);
}

function strangeAction(text: string): Mismatch {
  return mismatch('action', shown(text), 'a known action');
}
