/**
 * What the flows of this room are given: the owner's key, which may be a file or a program far away, and the one relay
 * community that holds the owner's personas and teams. Both answer in bounded time and never reject.
 */
import type { Pubkey, Refusal, Seconds } from '../model/index.ts';
import type { EventTemplate, PagedFilter, VerifiedEvent } from '../nostr/index.ts';

/**
 * `unavailable`: nobody answered, so nothing is known and asking again may help. `refused`: the key's holder said no,
 * or cannot do it (a signer that knows no long NIP-44 texts).
 */
export interface OwnerKey {
  readonly pubkey: Pubkey;
  sign(template: EventTemplate): Promise<{ readonly ok: true; readonly event: VerifiedEvent } | Refusal<'unavailable' | 'refused'>>;
  /** NIP-44 v2 from the owner to the owner, texts of 65,536 bytes and more included. */
  sealToSelf(plaintext: string): Promise<{ readonly ok: true; readonly payload: string } | Refusal<'unavailable' | 'refused'>>;
  /** `unreadable` only where the payload is known not to open; a signer that was not reached knows nothing of it. */
  openFromSelf(payload: string): Promise<{ readonly ok: true; readonly plaintext: string } | Refusal<'unavailable' | 'unreadable'>>;
}

export type Publication =
  | { readonly status: 'accepted' }
  | { readonly status: 'rejected'; readonly reason: string }
  /** No verdict: the event may be there, and the very same one may be sent again. */
  | { readonly status: 'unknown'; readonly reason: string };

export interface PersonaRelay {
  /** Verified events, in any order. `complete` is false where the relay broke off or the time ran out. */
  query(queries: readonly PagedFilter[]): Promise<{ readonly events: readonly VerifiedEvent[]; readonly complete: boolean }>;
  publish(event: VerifiedEvent): Promise<Publication>;
}

/** What a start is given: it reads, and neither signs nor publishes anything. */
export interface ReadingPorts {
  readonly key: Pick<OwnerKey, 'pubkey' | 'openFromSelf'>;
  readonly relay: Pick<PersonaRelay, 'query'>;
}

export interface OwnerPorts {
  readonly key: OwnerKey;
  readonly relay: PersonaRelay;
  /** For stamps. */
  readonly nowSec: () => Seconds;
}
