/**
 * Every bound of the NIP-BA wire, with its unit. "Scalars" are Unicode scalar values. One past any of them is
 * `invalid_request` for a request and a transport failure for a result. Source: NIP-BA "Wire and normalization" and
 * the section of the action; the two body limits at the end are ours, as the spec asks each side to set its own.
 */
export const REQUEST_ID_MAX_BYTES = 128;
export const CURSOR_MAX_BYTES = 256;

export const NAME_MAX_SCALARS = 120;
export const PROMPT_MAX_SCALARS = 20_000;
export const SCALAR_MAX_SCALARS = 300;
export const ABOUT_MAX_SCALARS = 2_000;
export const REACTION_MAX_SCALARS = 66;

export const CONTENT_MAX_BYTES = 65_536;
export const MENTIONS_MAX = 50;

export const PAGE_MAX_EVENTS = 500;
/** What an omitted `limit` means. */
export const PAGE_DEFAULT_EVENTS = 100;

/** The compact plaintext of a memory or core record: the Buzz NIP-AE cap. */
export const RECORD_MAX_BYTES = 65_535;
export const FRAMES_MAX = 256;
/** One payload, and also the whole compact `{"frames":[...]}`. */
export const FRAMES_MAX_BYTES = 65_535;

/** What the reader accepts of a body before it looks at any member. Nesting counts containers, the top one is 1. */
export interface BodyLimits {
  readonly maxBytes: number;
  readonly maxDepth: number;
}

/**
 * Requests nest 4 deep. 512 KiB holds the largest valid one even when every byte of a 65,536-byte text is written as
 * a six-byte escape.
 */
export const REQUEST_LIMITS: BodyLimits = { maxBytes: 524_288, maxDepth: 8 };

/** Results nest 6 deep. 64 MiB is a page of 500 events of about 128 KiB each, the largest a Buzz relay stores. */
export const RESULT_LIMITS: BodyLimits = { maxBytes: 67_108_864, maxDepth: 8 };
