/**
 * The words of a permission card (NIP-AO "Permission Sentinel Cards"): what the content of a kind-9 card and of its
 * kind-40003 edit says, with the bounds that producer and parser share.
 */
import type { Seconds } from '../model/index.ts';

/** The kind-9 message that shows the request in the thread. */
export const CARD_KIND = 9;
/** The edit of that message which says how the request ended. */
export const CARD_EDIT_KIND = 40_003;

/** NIP-AO D6, in UTF-8 bytes: of each string (a label is cut to it, everything else refused), and of the content. */
export const CARD_LIMITS = { stringBytes: 200, contentBytes: 4_096 } as const;

export interface CardOption {
  readonly optionId: string;
  /** What the agent calls it. A label is display and grants nothing: the position says what an option does. */
  readonly label: string;
}

export interface CardFacts {
  /** Goes back to the agent's supervisor word for word in the decision. */
  readonly requestNonce: string;
  readonly sessionId: string | null;
  readonly turnId: string | null;
  /** Unix time at which the request is denied when nobody has decided. */
  readonly expiresAt: Seconds;
  /** NIP-AO D5: the one that allows once, then the one that rejects once. */
  readonly options: readonly [allow: CardOption, reject: CardOption];
  readonly description: string | null;
}

/** How a card ended. Producers write the first three; `rejected` is read as well. */
export type CardResolution =
  | { readonly outcome: 'applied'; readonly chosenOptionId: string }
  | { readonly outcome: 'timed_out' | 'cancelled' | 'rejected'; readonly chosenOptionId: null };
