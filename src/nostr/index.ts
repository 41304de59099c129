/**
 * Nostr as pure functions.
 * in: src/model. out: events, their verification and order, tags and threads, filters, owner attestations, NIP-44, engrams,
 * key texts.
 * Signing is here as mathematics; only the broker (and the relay, for its own events) holds a key to sign with.
 */
export { isXOnly, publicKeyOf } from './curve.ts';
export { eventIdOf, parseEvent, signEvent, signEventAs, verifyEvent } from './event.ts';
export type { EventTemplate, Tag, UnverifiedEvent, VerifiedEvent } from './event.ts';
export { channelOf, destinationOf, firstValue, mentions, mentionsOf, OWN_MARK, replyTags, threadOf } from './tags.ts';
export type { ThreadPlace } from './tags.ts';
export { filterToWire, matchesFilter, parseFilter } from './filter.ts';
export type { Filter, PagedFilter } from './filter.ts';
export { attest, attestationIn, checkAttestation } from './attestation.ts';
export type { Attestation } from './attestation.ts';
export { newestFirst, oldestFirst } from './order.ts';
export { PRESENCE_KIND, PUT_USER_KIND, TYPING_KIND, WAKING_KINDS } from './kinds.ts';
export { ENGRAM_KIND, ENGRAM_MAX_BYTES, engramAddress, engramBody, isEngramSlug, readEngramBody } from './engram.ts';
export type { EngramReading } from './engram.ts';
export { jsonMembers } from './json-members.ts';
export type { JsonMember, JsonMembers } from './json-members.ts';
export { conversationKey, NIP44_MAX_PLAINTEXT_BYTES, openText, sealText } from './nip44.ts';
export type { ConversationKey, Opening, Sealing } from './nip44.ts';
export { newSecretKey, parsePubkey, parseSecretKey, toNpub } from './keys.ts';
