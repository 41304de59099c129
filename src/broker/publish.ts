/**
 * One principal's events on their way out: stamped, signed, sent, looked for again. Sending repeats the very same
 * signed event and nothing else; whether a send may happen at all is the journal's decision, never this file's.
 * in: templates, events. out: signed events, what the relay said. Also the NIP-42 answer of the principal's connection.
 */
import { seconds, secondsOf } from '../model/index.ts';
import type { Clock, EventId, Pubkey } from '../model/index.ts';
import { eventIdOf } from '../nostr/index.ts';
import type { EventTemplate, Tag, VerifiedEvent } from '../nostr/index.ts';
import type { Keyring } from './keyring.ts';
import type { PublishOutcome } from './ports.ts';
import type { Upstream } from './upstream/ports.ts';

/** How long one publication may wait for the relay's OK before its outcome is unknown. */
const PUBLISH_TIMEOUT_MS = 10_000;
/** How long the relay may take to say whether it has an event; long, so that a connection may come back meanwhile. */
const FIND_TIMEOUT_MS = 30_000;
/** NIP-42. */
const AUTH_KIND = 22_242;

/** What is said, without the moment and the author. */
export type Draft = Omit<EventTemplate, 'created_at'>;

/** `unreadable`: the relay did not answer in full, which says nothing. */
export type Sighting = 'found' | 'absent' | 'unreadable';

export interface Publisher {
  /** A signed event that no earlier one of this publisher equals; nothing is sent. */
  compose(draft: Draft): VerifiedEvent;
  publish(event: VerifiedEvent): Promise<PublishOutcome>;
  find(id: EventId): Promise<Sighting>;
}

export interface PublisherOptions {
  readonly pubkey: Pubkey;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly upstream: Pick<Upstream, 'publish' | 'fetch'>;
}

export function openPublisher({ pubkey, keyring, clock, upstream }: PublisherOptions): Publisher {
  /** Ids signed with the stamp that is the newest so far, or beyond it. */
  const recent = new Map<string, number>();

  /** Two operations that say the same in the same second would be one event; the later takes the next free second. */
  function stamped(draft: Draft): EventTemplate {
    const nowSec = secondsOf(clock.now());
    for (const [id, atSec] of recent) if (atSec < nowSec) recent.delete(id);
    for (let atSec: number = nowSec; ; atSec += 1) {
      const template = { ...draft, created_at: seconds(atSec) };
      const id = eventIdOf(template, pubkey);
      if (recent.has(id)) continue;
      recent.set(id, atSec);
      return template;
    }
  }

  return {
    compose: (draft) => keyring.sign(pubkey, stamped(draft)),
    publish: (event) => upstream.publish(event, { timeoutMs: PUBLISH_TIMEOUT_MS }),
    async find(id) {
      const { events, complete } = await upstream.fetch([{ ids: [id], limit: 1 }], { timeoutMs: FIND_TIMEOUT_MS });
      if (events.some((event) => event.id === id)) return 'found';
      return complete ? 'absent' : 'unreadable';
    },
  };
}

export interface AuthSignerOptions {
  readonly pubkey: Pubkey;
  readonly attestation?: Tag;
  readonly keyring: Keyring;
  readonly clock: Clock;
}

/** Answers a NIP-42 challenge, with the NIP-OA attestation where there is one: it admits an owner's agent. */
export function authSigner(options: AuthSignerOptions): (challenge: string, relayUrl: string) => VerifiedEvent {
  const { pubkey, attestation, keyring, clock } = options;
  return (challenge, relayUrl) =>
    keyring.sign(pubkey, {
      created_at: secondsOf(clock.now()),
      kind: AUTH_KIND,
      tags: [['relay', relayUrl], ['challenge', challenge], ...(attestation === undefined ? [] : [attestation])],
      content: '',
    });
}
