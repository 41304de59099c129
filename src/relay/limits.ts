/**
 * Every bound of the relay in one place: unit in the name, then why, then what happens at it. `openRelay` takes
 * overrides; the information document (NIP-11) tells clients the ones that concern them.
 */
export interface RelayLimits {
  /** A client message; the longest event a spec allows (an instructions version) is a quarter of it. `invalid:`. */
  readonly maxMessageBytes: number;
  /** A WebSocket message, so that an oversized EVENT can still be answered by its id. Beyond: closed with 1009. */
  readonly maxFrameBytes: number;
  /** Content of a channel message (kind 9) or an edit (kind 40003), as Buzz bounds them. `invalid:`. */
  readonly maxContentBytes: number;
  /** Tags of an event: each single-letter tag costs an index row. `invalid:`. */
  readonly maxTags: number;
  /** Open subscriptions of one connection, as a Buzz relay grants them. CLOSED `restricted:`. */
  readonly maxSubscriptions: number;
  /** Filters of one REQ or COUNT: each is a query. CLOSED `invalid:`. */
  readonly maxFilters: number;
  /** Characters of a subscription id: it is repeated in every delivery. CLOSED or NOTICE `invalid:`. */
  readonly maxSubscriptionIdLength: number;
  /** Stored events a filter may ask for; a larger `limit` is lowered to it (NIP-11 `max_limit`). */
  readonly maxLimit: number;
  /** Stored events of a filter that names no `limit`. */
  readonly defaultLimit: number;
  /** Characters of a NIP-50 `search`. `invalid:`. */
  readonly maxSearchLength: number;
  /** Requests over HTTP between their head and their answer. Beyond: HTTP 503. */
  readonly maxRequests: number;
  /** How far a NIP-98 event may be from our clock, as Buzz has it. HTTP 401. */
  readonly httpAuthWindowSec: number;
  /** Open sockets. Beyond: the upgrade is answered with HTTP 503. */
  readonly maxConnections: number;
  /** Sustained EVENT messages of one connection: below what one core can verify. OK=false `rate-limited:`. */
  readonly eventsPerSec: number;
  /** EVENT messages that may come at once, for a client that empties its outbox. */
  readonly eventsBurst: number;
  /** Sustained REQ, COUNT and AUTH messages of one connection. `rate-limited:`. */
  readonly requestsPerSec: number;
  readonly requestsBurst: number;
  /** Telemetry frames of one agent in any second, on all its connections (NIP-AO). OK=false `rate-limited:`. */
  readonly telemetryPerSec: number;
  /** Bytes waiting for a client that does not read. Beyond: its socket is dropped; it can resume with `since`. */
  readonly maxOutboundBytes: number;
  /** How long a connection may live without a valid AUTH. Then: NOTICE `auth-required:` and close 1008. */
  readonly authTimeoutMs: number;
  /** How far an AUTH event may be from our clock (NIP-42: about ten minutes). OK=false `invalid:`. */
  readonly authWindowSec: number;
  /** How far ahead of our clock an event may be stamped, as Buzz tolerates authors' clocks. OK=false `invalid:`. */
  readonly maxFutureSec: number;
  /** How far an observer frame (kind 24200) may be from our clock, either way (NIP-AO). OK=false `invalid:`. */
  readonly frameWindowSec: number;
  /** Channels held in memory. OK=false `restricted:`. */
  readonly maxChannels: number;
  /** Members of one channel: each change signs the whole list again. OK=false `restricted:`. */
  readonly maxMembers: number;
  /** Time between pings. A peer that has not answered one by the next is dropped. */
  readonly pingIntervalMs: number;
  /** How long `close` waits for clients to say goodbye before it drops their sockets. */
  readonly closeGraceMs: number;
}

export const DEFAULT_LIMITS: RelayLimits = {
  maxMessageBytes: 1_048_576,
  maxFrameBytes: 4_194_304,
  maxContentBytes: 65_536,
  maxTags: 2_000,
  maxSubscriptions: 1_024,
  maxFilters: 10,
  maxSubscriptionIdLength: 256,
  maxLimit: 10_000,
  defaultLimit: 500,
  maxSearchLength: 256,
  maxRequests: 256,
  httpAuthWindowSec: 60,
  maxConnections: 1_000,
  eventsPerSec: 1_000,
  eventsBurst: 5_000,
  requestsPerSec: 200,
  requestsBurst: 2_000,
  telemetryPerSec: 100,
  maxOutboundBytes: 16_777_216,
  authTimeoutMs: 60_000,
  authWindowSec: 600,
  maxFutureSec: 900,
  frameWindowSec: 300,
  maxChannels: 10_000,
  maxMembers: 5_000,
  pingIntervalMs: 30_000,
  closeGraceMs: 2_000,
};
