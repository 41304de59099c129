/**
 * A permission card as a stand-in card: it wakes nobody before and after. Its texts are replaced like any other, its
 * times moved, its options kept apart; what a card is made of stays.
 */
import { parseCard, pendingContent, resolvedContent } from '../../cards/index.ts';
import type { CardFacts, CardOption, ParsedCard } from '../../cards/index.ts';
import { seconds } from '../../model/index.ts';
import type { EventId } from '../../model/index.ts';

export interface CardStandIns {
  readonly text: (text: string) => string;
  readonly time: (atSec: number) => number;
  readonly eventId: (id: string) => EventId;
}

/** The card that a message is, as the gate reads it. */
export function cardIn(content: string): ParsedCard | undefined {
  const parsed = content.trimStart().startsWith('{') ? parseCard(content) : undefined;
  return parsed?.ok === true ? parsed.card : undefined;
}

/** What somebody wrote in it; the words that every card is made of are nobody's. */
export function textsOfCard({ requestNonce, sessionId, turnId, description, options }: CardFacts): readonly string[] {
  return [requestNonce, sessionId ?? '', turnId ?? '', description ?? '', ...options.flatMap(({ optionId, label }) => [optionId, label])];
}

export function scrubCard(card: ParsedCard, standIns: CardStandIns): string {
  const { text } = standIns;
  const orNull = (one: string | null): string | null => (one === null ? null : text(one));
  const [allow, reject] = card.options.map(({ optionId, label }): CardOption => ({ optionId: text(optionId), label: text(label) }));
  if (allow === undefined || reject === undefined) throw new TypeError('scrub: a card without its two options');
  // Two short words may have the same stand-in.
  const apart = allow.optionId === reject.optionId ? { ...reject, optionId: `${reject.optionId}-` } : reject;
  const facts: CardFacts = {
    requestNonce: text(card.requestNonce), sessionId: orNull(card.sessionId), turnId: orNull(card.turnId),
    expiresAt: seconds(Math.max(0, standIns.time(card.expiresAt))), options: [allow, apart], description: orNull(card.description),
  };
  if (card.state === 'pending') return pendingContent(facts);
  const { outcome, chosenOptionId } = card;
  const original = standIns.eventId(card.originalEventId);
  if (outcome !== 'applied') return resolvedContent(facts, original, { outcome, chosenOptionId: null });
  const chosen = chosenOptionId === card.options[0].optionId ? allow : apart;
  return resolvedContent(facts, original, { outcome, chosenOptionId: chosen.optionId });
}
