/** Every number of the relay connection: its unit, its reason, and what happens at it. */

/** TCP, TLS and the WebSocket handshake together. Beyond it the attempt has failed. */
export const CONNECT_TIMEOUT_MS = 30_000;
/** How long an open connection waits for an AUTH challenge before it goes on without: most relays send it at once. */
export const GREETING_MS = 250;
/** From our AUTH to its OK, and from `auth-required:` to a challenge. Beyond it the connection is made anew. */
export const AUTH_TIMEOUT_MS = 20_000;
/** A quiet connection is asked for a sign of life this often. */
export const PING_EVERY_MS = 30_000;
/** No pong and no message for this long after a ping: the peer is gone (a half-open socket). */
export const PONG_TIMEOUT_MS = 10_000;
/** Before attempts 2, 3, ...; the last repeats for ever. Jitter of 20 % either way keeps agents from returning as one. */
export const BACKOFF_SEC = [1, 2, 4, 8, 16, 30] as const;
export const BACKOFF_JITTER = 0.2;
/** A connection, or a subscription, that stood this long counts as good: its failures before are forgotten. */
export const STABLE_MS = 60_000;
/** A polite close may take this long; then the socket is destroyed. */
export const CLOSE_GRACE_MS = 2_000;

/** Between two REQs once the relay has said `rate-limited:`; Buzz allows 50 frames in 5 s. */
export const REQUEST_PACE_MS = 125;
/** The pause after a `rate-limited:` that does not say `retry in Ns`, and the longest pause one may ask for. */
export const RATE_LIMITED_MS = 5_000;
export const MAX_RATE_LIMITED_MS = 300_000;
/** For this long after a `rate-limited:` what nobody misses is better not sent: Buzz counts a quota by the minute. */
export const LIMITED_MS = 60_000;
/** How often a subscription closed by the relay is asked for again on one connection, after 1, 2, 4, 8 and 16 s. */
export const MAX_REFUSALS = 5;

/** On a living connection an event without an answer is sent once more after this long. */
export const RESEND_AFTER_MS = 10_000;
/** Many relays send no OK for ephemeral events: after this long without one the outcome is unknown. */
export const EPHEMERAL_ANSWER_MS = 3_000;
/** Events waiting to be sent or answered. At the limit the oldest ephemeral one is dropped, then a new one refused. */
export const MAX_OUTBOX = 1_000;
export const MAX_OUTBOX_EPHEMERAL = 256;
/** Characters of JSON in the outbox; one kind 24200 frame may have 90,000. */
export const MAX_OUTBOX_CHARACTERS = 16_000_000;
/** Bytes the socket may hold back before ephemeral events are dropped: the relay reads slower than we write. */
export const MAX_SOCKET_BACKLOG_BYTES = 4_000_000;

/** One message of the relay. A longer one is ignored and counted: Buzz content is at most 87,472 bytes. */
export const MAX_MESSAGE_BYTES = 1_000_000;
/** A message beyond this breaks the connection (the WebSocket layer cannot skip one). */
export const MAX_PAYLOAD_BYTES = 16_000_000;
/** Characters kept of a relay's reason or notice. */
export const MAX_REASON_CHARACTERS = 1_000;
export const MAX_CHALLENGE_CHARACTERS = 1_024;
/** NIP-01: a subscription id has at most 64 characters. */
export const MAX_SUBSCRIPTION_ID = 64;

/** Event ids remembered as delivered, in two generations; a forgotten one may be delivered again. */
export const SEEN_IDS = 12_000;
/** Deliveries that may wait; beyond it the socket is not read until half of them are done. */
export const MAX_DELIVERIES = 256;
/** The same while a fetch waits: its answer comes through the same socket, and the consumer may be waiting for it. */
export const MAX_DELIVERIES_IN_FETCH = 8_192;
/** Fetches under way at once; one more is answered as incomplete. */
export const MAX_FETCHES = 64;
/** Events one fetch collects; at the limit it ends, incomplete. */
export const MAX_FETCH_EVENTS = 10_000;

/** The relay's information document (NIP-11): time and bytes of one answer; beyond either there is none. */
export const INFORMATION_TIMEOUT_MS = 3_000;
export const MAX_INFORMATION_BYTES = 65_536;
/** An answer is good for this long, as keys seldom change; without one the relay is asked again after a minute. */
export const INFORMATION_FRESH_MS = 600_000;
export const INFORMATION_RETRY_MS = 60_000;
