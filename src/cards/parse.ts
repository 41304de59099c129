/**
 * The reader's side of a card: content in, the card or why it is none. What is none is an ordinary message.
 *
 * Agent and channel are never taken from the content: they are those of the signed event. A reader also checks that the
 * card's author is the agent it knows, and that the edit has the same author (NIP-AO "Sentinel authenticity").
 */
import { asEventId, refuse, seconds } from '../model/index.ts';
import type { EventId, Refusal } from '../model/index.ts';
import { CARD_LIMITS } from './card.ts';
import type { CardFacts, CardOption, CardResolution } from './card.ts';
import { utf8Bytes } from './text.ts';

export type ParsedCard =
  | ({ readonly state: 'pending' } & CardFacts)
  | ({ readonly state: 'resolved'; readonly originalEventId: EventId } & CardFacts & CardResolution);

/** `too_long` and `not_a_card` are other people's messages; `malformed` is one that says of itself that it is a card. */
export type CardFault = 'too_long' | 'not_a_card' | 'malformed';

type Members = Readonly<Record<string, unknown>>;

/** Members that are not known are ignored. */
export function parseCard(content: string): { readonly ok: true; readonly card: ParsedCard } | Refusal<CardFault> {
  if (utf8Bytes(content) > CARD_LIMITS.contentBytes) return refuse('too_long', `content: expected at most ${CARD_LIMITS.contentBytes} bytes`);
  const members = objectIn(content);
  if (members?.['v'] !== 1) return refuse('not_a_card', 'content: expected a JSON object with v 1');
  const facts = factsIn(members);
  if (typeof facts === 'string') return refuse('malformed', facts);
  const { state } = members;
  if (state === 'pending') return { ok: true, card: { state, ...facts } };
  if (state !== 'resolved') return refuse('malformed', 'state: expected pending or resolved');
  const { originalEventId: original } = members;
  const originalEventId = typeof original === 'string' ? asEventId(original) : undefined;
  if (originalEventId === undefined) return refuse('malformed', 'originalEventId: expected 64 lowercase hex characters');
  const resolution = resolutionIn(members, facts.options);
  if (typeof resolution === 'string') return refuse('malformed', resolution);
  return { ok: true, card: { state, originalEventId, ...facts, ...resolution } };
}

/**
 * True for whatever a client might take for a card, ours or another's: looser than `parseCard`, since some trim what they
 * read. A card speaks for the supervisor, so nothing else that an agent signs may be one.
 */
export function mayPassForCard(content: string): boolean {
  const text = content.trim();
  // Most messages are no JSON: not worth an exception.
  return text.startsWith('{') && objectIn(text)?.['v'] === 1;
}

/** A text is what is wrong. */
function factsIn(members: Members): CardFacts | string {
  const { requestNonce, sessionId, turnId, expiresAt, description } = members;
  if (!isShort(requestNonce) || requestNonce === '') return 'requestNonce: expected a nonempty string of at most 200 bytes';
  if (!isShort(sessionId) && sessionId !== null) return 'sessionId: expected a string of at most 200 bytes or null';
  if (!isShort(turnId) && turnId !== null) return 'turnId: expected a string of at most 200 bytes or null';
  if (typeof expiresAt !== 'number' || !Number.isSafeInteger(expiresAt) || expiresAt < 0) return 'expiresAt: expected whole seconds';
  if (description !== undefined && description !== null && !isShort(description)) return 'description: expected a string of at most 200 bytes or null';
  const options = optionsIn(members);
  if (typeof options === 'string') return options;
  return { requestNonce, sessionId, turnId, expiresAt: seconds(expiresAt), options, description: description ?? null };
}

function optionsIn({ optionIds, labels }: Members): CardFacts['options'] | string {
  const wrong = 'optionIds: expected two different nonempty strings of at most 200 bytes';
  const ids: readonly unknown[] = Array.isArray(optionIds) ? optionIds : [];
  const [allow, reject] = ids;
  if (ids.length !== 2) return wrong;
  if (!isShort(allow) || !isShort(reject) || allow === '' || reject === '' || allow === reject) return wrong;
  const expected = 'labels: expected exactly the two options, each with a string of at most 200 bytes';
  if (!isMembers(labels) || Object.keys(labels).length !== 2) return expected;
  const [one, other] = [labelOf(labels, allow), labelOf(labels, reject)];
  return one === undefined || other === undefined ? expected : [one, other];
}

function labelOf(labels: Members, optionId: string): CardOption | undefined {
  const label = Object.hasOwn(labels, optionId) ? labels[optionId] : undefined;
  return isShort(label) ? { optionId, label } : undefined;
}

function resolutionIn({ outcome, chosenOptionId: chosen }: Members, options: CardFacts['options']): CardResolution | string {
  switch (outcome) {
    case 'applied':
      if (options.some(({ optionId }) => optionId === chosen) && typeof chosen === 'string') return { outcome, chosenOptionId: chosen };
      return 'chosenOptionId: expected one of the two options';
    case 'timed_out':
    case 'cancelled':
    case 'rejected':
      return chosen === null ? { outcome, chosenOptionId: null } : 'chosenOptionId: expected null';
    default:
      return 'outcome: expected applied, timed_out, cancelled or rejected';
  }
}

function objectIn(content: string): Members | undefined {
  try {
    const value: unknown = JSON.parse(content);
    return isMembers(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isShort(value: unknown): value is string {
  return typeof value === 'string' && utf8Bytes(value) <= CARD_LIMITS.stringBytes;
}
