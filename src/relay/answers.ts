/**
 * What the relay says to a client: the machine-readable prefixes of NIP-01 and NIP-42, refusals that carry them, and
 * the wire text of each message. An event is stringified once, by whoever stores it, and only framed here.
 */
import { refuse, unreachable } from '../model/index.ts';
import type { Refusal } from '../model/index.ts';

export type Prefix =
  'invalid' | 'restricted' | 'rate-limited' | 'blocked' | 'error' | 'auth-required' | 'duplicate';
export type RelayRefusal = Refusal<Prefix>;

/** What an EVENT or AUTH comes to; `note` is the text of a positive OK, often empty. */
export type Answer = { readonly ok: true; readonly note: string } | RelayRefusal;

/** Why an entry was not stored: it is there already, a newer one is at its address, or its author had it deleted. */
export type NotStored = 'duplicate' | 'superseded' | 'deleted';

export const ACCEPTED: Answer = { ok: true, note: '' };

/** NIP-01: that the relay has the event, or a newer one, is good news; only a deleted one is refused. */
export function answerNotStored(why: NotStored): Answer {
  switch (why) {
    case 'duplicate':
      return { ok: true, note: 'duplicate: already have this event' };
    case 'superseded':
      return { ok: true, note: 'duplicate: have a newer version' };
    case 'deleted':
      return refuse('blocked', 'the event was deleted by its author or by an admin of its channel');
    default:
      return unreachable(why);
  }
}

export function okText(eventId: string, answer: Answer): string {
  return JSON.stringify(['OK', eventId, answer.ok, answer.ok ? answer.note : reasonOf(answer)]);
}

export function closedText(subscriptionId: string, refusal: RelayRefusal): string {
  return JSON.stringify(['CLOSED', subscriptionId, reasonOf(refusal)]);
}

export function eventText(subscriptionId: string, eventJson: string): string {
  return `["EVENT",${JSON.stringify(subscriptionId)},${eventJson}]`;
}

export function eoseText(subscriptionId: string): string {
  return JSON.stringify(['EOSE', subscriptionId]);
}

export function countText(subscriptionId: string, count: number): string {
  return JSON.stringify(['COUNT', subscriptionId, { count }]);
}

export function noticeText(refusal: RelayRefusal): string {
  return JSON.stringify(['NOTICE', reasonOf(refusal)]);
}

export function challengeText(challenge: string): string {
  return JSON.stringify(['AUTH', challenge]);
}

/** What a refusal is over HTTP. */
export function httpStatusOf(prefix: Prefix): number {
  switch (prefix) {
    case 'invalid':
    case 'duplicate':
      return 400;
    case 'auth-required':
      return 401;
    case 'restricted':
    case 'blocked':
      return 403;
    case 'rate-limited':
      return 429;
    case 'error':
      return 500;
    default:
      return unreachable(prefix);
  }
}

export function reasonOf(refusal: RelayRefusal): string {
  return `${refusal.code}: ${refusal.detail}`;
}
