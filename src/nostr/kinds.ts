/** Kinds that more than one room has to agree on. */

/**
 * What a person or a clock addresses to an agent: 9 (channel message), 40007 (reminder), 46010 (approval requested).
 * Only these are asked for and only these wake; Buzz's harness has the same list.
 */
export const WAKING_KINDS: readonly number[] = [9, 40_007, 46_010];

/** What only the moment is about, and nobody stores: who is there, and who is writing. Neither wakes anybody. */
export const PRESENCE_KIND = 20_001;
export const TYPING_KIND = 20_002;

/** NIP-29: an admin of a channel puts somebody into it. */
export const PUT_USER_KIND = 9_000;
