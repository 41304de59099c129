/**
 * A verdict is a NIP-BA result without its delivery: no request id, no `replayed`. This file says which verdict each
 * end of a record means, and writes and reads the stored form: the wire's own, strict and versioned, under the request
 * id `-` because the row holds the true one. Equal verdicts give equal bytes, now and after a restart.
 */
import { excerpt, Failure } from '../../model/index.ts';
import type { EventId } from '../../model/index.ts';
import type { VerifiedEvent } from '../../nostr/index.ts';
import { parseResult, writeResult } from '../wire/index.ts';
import type { ActionName, BrokerResult, FailedCode, IndeterminateCode, Outcome } from '../wire/index.ts';

type Undelivered<Result> = Result extends unknown ? Omit<Result, 'requestId' | 'replayed'> : never;
export type Verdict = Undelivered<BrokerResult>;

interface Published {
  readonly eventId: EventId;
  readonly kind: number;
  readonly createdAt: bigint;
}

/** The actions whose outcome is one published event. */
export type PublishingAction = {
  [Name in ActionName]: Outcome<Name> extends Published ? Name : never;
}[ActionName];

const PUBLISHING: Readonly<Record<PublishingAction, true>> = {
  'message.post': true,
  'message.reply': true,
  'reaction.add': true,
  'profile.set': true,
  'storage.put': true,
  'presence.set': true,
  'typing.set': true,
  'liveness.ping': true,
};

export function isPublishing(action: string): action is PublishingAction {
  return Object.hasOwn(PUBLISHING, action);
}

/** The action that publishes one event, and whose outcome is something else. */
export const ATTACHING = 'agents.create';
export type Attached = Extract<Verdict, { readonly action: typeof ATTACHING }>;

/** What is durable before a publication: the very event, the action it carries out, and what its success will be. */
export type Evidence =
  | { readonly action: PublishingAction; readonly event: VerifiedEvent }
  | { readonly action: typeof ATTACHING; readonly event: VerifiedEvent; readonly accepted: Attached };

/** The verdict of an event that the relay has. */
export function published(evidence: Evidence): Verdict {
  if (evidence.action === ATTACHING) return evidence.accepted;
  const { action, event } = evidence;
  const outcome = { eventId: event.id, kind: event.kind, createdAt: BigInt(event.created_at) };
  return { status: 'succeeded', action, outcome };
}

/** `message` is for an operator: shortened, escaped, redacted here, so that no caller can forget to. */
export function failed(code: FailedCode, message: string): Verdict {
  return { status: 'failed', error: { code, message: excerpt(message, MESSAGE_MAX_SCALARS) } };
}

export function indeterminate(code: IndeterminateCode, message: string): Verdict {
  return { status: 'indeterminate', error: { code, message: excerpt(message, MESSAGE_MAX_SCALARS) } };
}

const MESSAGE_MAX_SCALARS = 300;

/** Words of a relay (NIP-01 OK, false, and CLOSED) that say this one may not, rather than that it cannot be. */
export function isForbidden(reason: string): boolean {
  return /^(?:restricted|blocked):/.test(reason);
}

/** The relay's no to an event that was sent once: proof that there was no effect. */
export function turnedDown(reason: string): Verdict {
  return failed(isForbidden(reason) ? 'unauthorized' : 'action_failed', `the relay refused: ${reason}`);
}

const STORED_ID = '-';

export function verdictToText(verdict: Verdict): string {
  return writeResult({ requestId: STORED_ID, ...verdict });
}

/** Throws `Failure('storage_corrupt')` for a text that `verdictToText` did not write. */
export function verdictFromText(text: string): Verdict {
  const reading = parseResult(Buffer.from(text, 'utf8'));
  if (!reading.ok) return corrupt(reading.detail);
  const { requestId, ...verdict } = reading.result;
  return requestId === STORED_ID ? verdict : corrupt('it names a request');
}

function corrupt(detail: string): never {
  throw new Failure('storage_corrupt', `journal: a stored result cannot be read (${detail})`);
}
