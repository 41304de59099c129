/** Every number of the feed: its unit, its reason, and what happens at it. */

/** How far the very first start of an agent reaches back: what was said while it was being set up. */
export const FIRST_START_SEC = 60;
/** A read position is written at most this often: a stale one only means that more is read again. */
export const SAVE_EVERY_MS = 3_000;
/** Members and notices may answer this far apart; then the channels known so far are followed. */
export const DISCOVERY_MS = 5_000;
/** Stored events wait for EOSE, to be put in order; a relay that sends none in this time gets no more patience. */
export const CATCH_UP_MS = 10_000;
/** Stored events of one channel kept for ordering; at the limit those there are handed on. */
export const MAX_CATCH_UP = 5_000;
/** Channels followed, and channels heard of; a relay takes about 1,000 subscriptions. Beyond them a warning. */
export const MAX_FOLLOWED = 1_000;
export const MAX_KNOWN = 4_000;
/** At close the item in the consumer's hands may take this long. */
export const CLOSE_GRACE_MS = 5_000;
