/**
 * What a verified event is to an owner: a frame of telemetry to open, a card, an edit of one, or nothing. Whether its
 * author is an agent of this owner is not decided here.
 * NIP-AO "Event Structure", "Authorization" and "Sentinel authenticity".
 */
import { CARD_EDIT_KIND, CARD_KIND, parseCard } from '../../cards/index.ts';
import type { ParsedCard } from '../../cards/index.ts';
import { asEventId } from '../../model/index.ts';
import type { ChannelId, EventId, Pubkey, Seconds } from '../../model/index.ts';
import { channelOf, firstValue } from '../../nostr/index.ts';
import type { VerifiedEvent } from '../../nostr/index.ts';

export const FRAME_KIND = 24_200;
/** NIP-AO: no older frame is asked for, and none whose stamp is further from our clock is taken. */
export const FRAME_WINDOW_SEC = 300;

export interface CardSighting {
  readonly type: 'card';
  readonly agent: Pubkey;
  readonly channelId: ChannelId;
  readonly eventId: EventId;
  readonly createdAt: Seconds;
  readonly card: Extract<ParsedCard, { state: 'pending' }>;
}

export interface EditSighting {
  readonly type: 'edit';
  readonly agent: Pubkey;
  readonly channelId: ChannelId;
  readonly createdAt: Seconds;
  readonly card: Extract<ParsedCard, { state: 'resolved' }>;
}

/** True for telemetry to `owner` whose three tags say so, once each, and whose stamp is near `nowSec`. */
export function isTelemetryFor(event: VerifiedEvent, owner: Pubkey, nowSec: Seconds): boolean {
  const { kind, pubkey, tags, created_at: createdAt } = event;
  const says = (name: string, value: string): boolean => {
    const found = tags.filter((tag) => tag[0] === name);
    return found.length === 1 && found[0]?.[1] === value;
  };
  return kind === FRAME_KIND && Math.abs(createdAt - nowSec) <= FRAME_WINDOW_SEC
    && says('p', owner) && says('agent', pubkey) && says('frame', 'telemetry');
}

/** A pending card for `owner`. Channel and agent are those of the event, never of its content. */
export function cardIn(event: VerifiedEvent, owner: Pubkey): CardSighting | undefined {
  const { kind, pubkey: agent, tags, id: eventId, created_at: createdAt, content } = event;
  const channelId = channelOf(tags);
  const named = tags.filter((tag) => tag[0] === 'p').map((tag) => tag[1]);
  if (kind !== CARD_KIND || channelId === undefined || named.length !== 1 || named[0] !== owner) return undefined;
  const parsed = parseCard(content);
  if (!parsed.ok || parsed.card.state !== 'pending') return undefined;
  return { type: 'card', agent, channelId, eventId, createdAt, card: parsed.card };
}

/** The edit that says how a card ended. Its tag and its content name the same card. */
export function editIn(event: VerifiedEvent): EditSighting | undefined {
  const { kind, pubkey: agent, tags, created_at: createdAt, content } = event;
  const channelId = channelOf(tags);
  if (kind !== CARD_EDIT_KIND || channelId === undefined) return undefined;
  const parsed = parseCard(content);
  if (!parsed.ok || parsed.card.state !== 'resolved') return undefined;
  if (asEventId(firstValue(tags, 'e') ?? '') !== parsed.card.originalEventId) return undefined;
  return { type: 'edit', agent, channelId, createdAt, card: parsed.card };
}
