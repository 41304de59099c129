/**
 * What the number of a kind decides: where its events are kept (NIP-01 "Kinds"), who may publish them, and who may read
 * them. Tables only; `access.ts` and `forms.ts` apply them.
 */
import { firstValue } from '../nostr/index.ts';
import type { UnverifiedEvent } from '../nostr/index.ts';

export const KIND = {
  deletion: 5,
  message: 9,
  giftWrap: 1059,
  putUser: 9000,
  removeUser: 9001,
  editMetadata: 9002,
  deleteEvent: 9005,
  createGroup: 9007,
  joinRequest: 9021,
  leaveRequest: 9022,
  auth: 22242,
  observerFrame: 24200,
  engram: 30174,
  persona: 30175,
  teamCatalog: 30178,
  groupMetadata: 39000,
  groupAdmins: 39001,
  groupMembers: 39002,
  messageEdit: 40003,
  memberAdded: 44100,
  memberRemoved: 44101,
  turnMetric: 44200,
  instructions: 44300,
} as const;

/** Credentials of a moment: NIP-42 AUTH, Blossom and NIP-98 HTTP authorisation. A stored copy would be a stolen one. */
export const NEVER_PUBLISHED: ReadonlySet<number> = new Set([KIND.auth, 24242, 27235]);

/** Facts only the relay can state; a client's word for them is refused. */
export const RELAY_ONLY: ReadonlySet<number> = new Set([
  8000, 8001, 8002, 8003, 13534, 13535, 30622, 39000, 39001, 39002, 39003, 39005, 39006, 40901, 40902, 44100, 44101,
]);

/** Commands to the relay that this one does not carry out: accepting one would say that something has happened. */
export const NOT_CARRIED_OUT: ReadonlySet<number> = new Set([
  9008, 9009, 9030, 9031, 9032, 9033, 9035, 9036, 9040, 9041, 9042, 9043, 9044, 28936, 41010, 41011, 41012,
]);

/** Kinds that mean nothing outside a channel: they need an `h` tag. */
export const CHANNEL_ONLY: ReadonlySet<number> = new Set([
  KIND.message, 9000, 9001, 9002, 9005, 9007, 9021, 9022, 40008, 40100, 45001, 45002, 45003,
]);

/** NIP-29 events that change who or what a channel is. */
export const CHANNEL_CHANGES: ReadonlySet<number> = new Set([
  KIND.putUser, KIND.removeUser, KIND.editMetadata, KIND.createGroup, KIND.joinRequest, KIND.leaveRequest,
]);

/** Readable by the pubkeys in their `p` tags alone. */
export const RECIPIENTS_ONLY: ReadonlySet<number> = new Set([
  KIND.giftWrap, KIND.observerFrame, 30622, KIND.memberAdded, KIND.memberRemoved,
]);

/** A filter that can find one must ask for the reader's own by `#p` (NIP-AO "Authorization", NIP-AM). */
export const P_GATED: ReadonlySet<number> = new Set([...RECIPIENTS_ONLY, KIND.turnMetric]);

/** Readable by their author alone. */
export const AUTHOR_ONLY: ReadonlySet<number> = new Set([30300, 30350, 30179, KIND.instructions]);

/** NIP-AP "Access control: author-only-unless-shared". */
export const SHARED_GATED: ReadonlySet<number> = new Set([KIND.persona, KIND.teamCatalog]);

export type StorageClass = 'regular' | 'replaceable' | 'addressable' | 'ephemeral';

/** NIP-01 "Kinds". Kind 41 is replaceable on Buzz. */
export function storageClassOf(kind: number): StorageClass {
  if (kind === 0 || kind === 3 || kind === 41 || (kind >= 10_000 && kind < 20_000)) return 'replaceable';
  if (kind >= 20_000 && kind < 30_000) return 'ephemeral';
  if (kind >= 30_000 && kind < 40_000) return 'addressable';
  return 'regular';
}

/** `<kind>:<pubkey>:<d>`, as NIP-09's `a` tags write it, where only the newest event is kept; undefined elsewhere. */
export function addressOf(event: UnverifiedEvent): string | undefined {
  const storage = storageClassOf(event.kind);
  if (storage === 'replaceable') return `${event.kind}:${event.pubkey}:`;
  if (storage === 'addressable') return `${event.kind}:${event.pubkey}:${firstValue(event.tags, 'd') ?? ''}`;
  return undefined;
}
