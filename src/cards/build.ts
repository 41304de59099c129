/**
 * The producer's side of a card: the content and tags of the kind-9 card and of its kind-40003 edit, or a refusal where
 * NIP-AO D6 fails closed. The bytes are Buzz's: members and labels in alphabetical order, no white space.
 */
import { eventId, excerpt, refuse } from '../model/index.ts';
import type { ChannelId, EventId, Pubkey, Refusal, Seconds } from '../model/index.ts';
import { CARD_LIMITS } from './card.ts';
import type { CardFacts, CardResolution } from './card.ts';
import { describeRequest } from './description.ts';
import { byScalars, cutToBytes, utf8Bytes } from './text.ts';

export interface CardRequest {
  readonly requestNonce: string;
  readonly sessionId: string;
  readonly turnId: string;
  readonly expiresAt: Seconds;
  readonly allow: { readonly optionId: string; readonly name: string };
  readonly reject: { readonly optionId: string; readonly name: string };
  /** The raw params of the permission request: what the card's description is made of. */
  readonly params: Readonly<Record<string, unknown>>;
}

export type CardRefusal = 'bad_string' | 'bad_time' | 'same_options' | 'content_too_long';

/** A card whose content, and whose edit for every way it can end, keep the bounds; else which one does not. */
export function buildCard(request: CardRequest): { readonly ok: true; readonly card: CardFacts } | Refusal<CardRefusal> {
  const { requestNonce, sessionId, turnId, expiresAt, allow, reject, params } = request;
  const bad = badString('requestNonce', requestNonce, true) ?? badString('sessionId', sessionId, false) ?? badString('turnId', turnId, false)
    ?? badString('the allowing optionId', allow.optionId, true) ?? badString('the rejecting optionId', reject.optionId, true);
  if (bad !== undefined) return refuse('bad_string', bad);
  if (allow.optionId === reject.optionId) return refuse('same_options', 'optionIds: expected two different ones');
  if (!Number.isSafeInteger(expiresAt) || expiresAt < 0) return refuse('bad_time', `expiresAt: expected Unix seconds, found ${expiresAt}`);
  const [onAllow, onReject] = [allow, reject].map(({ name }) => cutToBytes(name, CARD_LIMITS.stringBytes));
  const card: CardFacts = {
    requestNonce, sessionId, turnId, expiresAt,
    options: [{ optionId: allow.optionId, label: onAllow ?? '' }, { optionId: reject.optionId, label: onReject ?? '' }],
    description: describeRequest(params),
  };
  // An edit is longer than its card: a card that could not be closed again is not posted.
  const bytes = Math.max(...longestContents(card).map(utf8Bytes));
  if (bytes <= CARD_LIMITS.contentBytes) return { ok: true, card };
  return refuse('content_too_long', `card: expected at most ${CARD_LIMITS.contentBytes} bytes with its edit, found ${bytes}`);
}

/** The content of the kind-9 card. */
export function pendingContent(card: CardFacts): string {
  return objectText([
    ['description', card.description], ['expiresAt', card.expiresAt], ['labels', labelsOf(card)], ['optionIds', optionIds(card)],
    ['requestNonce', card.requestNonce], ['sessionId', card.sessionId], ['state', 'pending'], ['turnId', card.turnId], ['v', 1],
  ]);
}

/** The content of the kind-40003 edit of the card with this event id. */
export function resolvedContent(card: CardFacts, originalEventId: EventId, { outcome, chosenOptionId }: CardResolution): string {
  return objectText([
    ['chosenOptionId', chosenOptionId], ['description', card.description], ['expiresAt', card.expiresAt], ['labels', labelsOf(card)],
    ['optionIds', optionIds(card)], ['originalEventId', originalEventId], ['outcome', outcome], ['requestNonce', card.requestNonce],
    ['sessionId', card.sessionId], ['state', 'resolved'], ['turnId', card.turnId], ['v', 1],
  ]);
}

/** The tags of the card: the channel, the owner who may decide, and the event of the turn that it answers in a thread. */
export function cardTags(place: { readonly channelId: ChannelId; readonly owner: Pubkey; readonly trigger?: EventId }): readonly (readonly string[])[] {
  const { channelId, owner, trigger } = place;
  return [['h', channelId], ['p', owner], ...(trigger === undefined ? [] : [['e', trigger, '', 'reply']])];
}

/** The tags of the edit: no one is mentioned again. */
export function editTags(channelId: ChannelId, cardId: EventId): readonly (readonly string[])[] {
  return [['h', channelId], ['e', cardId]];
}

type Value = string | number | null | readonly string[] | RawText;
interface RawText {
  readonly text: string;
}

/** In the order given: an object would put members that look like numbers first. */
function objectText(members: readonly (readonly [string, Value])[]): string {
  const texts = members.map(([name, value]) => `${JSON.stringify(name)}:${isRaw(value) ? value.text : JSON.stringify(value)}`);
  return `{${texts.join(',')}}`;
}

function isRaw(value: Value): value is RawText {
  return typeof value === 'object' && value !== null && 'text' in value;
}

function labelsOf({ options }: CardFacts): RawText {
  const sorted = [...options].sort((a, b) => byScalars(a.optionId, b.optionId));
  return { text: objectText(sorted.map(({ optionId, label }) => [optionId, label])) };
}

function optionIds({ options: [allow, reject] }: CardFacts): readonly string[] {
  return [allow.optionId, reject.optionId];
}

function longestContents(card: CardFacts): readonly string[] {
  const [allow, reject] = card.options;
  const anyId = eventId('0'.repeat(64));
  return [
    pendingContent(card), resolvedContent(card, anyId, { outcome: 'timed_out', chosenOptionId: null }),
    ...[allow, reject].map(({ optionId }) => resolvedContent(card, anyId, { outcome: 'applied', chosenOptionId: optionId })),
  ];
}

/** A lone surrogate has no UTF-8: such an id could not come back as it went. */
function badString(name: string, text: string, nonempty: boolean): string | undefined {
  if (nonempty && text === '') return `${name}: expected a nonempty string`;
  if (!text.isWellFormed()) return `${name}: expected well-formed text, found ${excerpt(text)}`;
  const bytes = utf8Bytes(text);
  return bytes <= CARD_LIMITS.stringBytes ? undefined : `${name}: expected at most ${CARD_LIMITS.stringBytes} bytes, found ${bytes}`;
}
