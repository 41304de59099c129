/**
 * One principal's events on their way out: stamped, signed, sent, looked for again. Sending repeats the very same
 * signed event and nothing else; whether a send may happen at all is the journal's decision, never this file's.
 * in: templates, events. out: signed events, what the relay said. Also the NIP-42 answer of the principal's connection.
 */
import { seconds, secondsOf } from '../model/index.ts';
import type { Clock, Pubkey } from '../model/index.ts';
import { channelOf, eventIdOf, firstValue, mentions, mentionsOf, PUT_USER_KIND } from '../nostr/index.ts';
import type { EventTemplate, Filter, Tag, VerifiedEvent } from '../nostr/index.ts';
import type { EventDraft } from './draft.ts';
import type { Keyring } from './keyring.ts';
import type { PublishOutcome } from './ports.ts';
import type { Upstream } from './upstream/ports.ts';

/** How long one publication may wait for the relay's OK before its outcome is unknown. */
const PUBLISH_TIMEOUT_MS = 10_000;
/** How long the relay may take to say whether it has an event; long, so that a connection may come back meanwhile. */
const FIND_TIMEOUT_MS = 30_000;
/** The same after a no, where a client waits for the answer and the relay's word will do. */
const RECHECK_TIMEOUT_MS = 5_000;
/** NIP-42. */
const AUTH_KIND = 22_242;
/** NIP-29: the relay's own list of a channel's members. */
const MEMBERS_KIND = 39_002;

/** `unreadable`: the relay did not answer in full, which says nothing. */
export type Sighting = 'found' | 'absent' | 'unreadable';

export interface Publisher {
  /**
   * A signed event that no earlier one of this publisher equals, but for one that no relay keeps (NIP-01); one that
   * replaces others is stamped above all of them that were composed here. Nothing is sent.
   */
  compose(draft: EventDraft): VerifiedEvent;
  /** A no of the relay counts unless it has the event all the same; some say no after the event was stored. */
  publish(event: VerifiedEvent): Promise<PublishOutcome>;
  /** Whether the relay has the event; of a put-user, which it need not keep, whether it lists the user as a member. */
  find(event: VerifiedEvent): Promise<Sighting>;
}

export interface PublisherOptions {
  readonly pubkey: Pubkey;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly upstream: Pick<Upstream, 'publish' | 'fetch'>;
  /** The relay's own key, where it is known: its member lists are signed with it. */
  readonly relaySelf?: () => Promise<Pubkey | undefined>;
}

export function openPublisher({ pubkey, keyring, clock, upstream, relaySelf }: PublisherOptions): Publisher {
  /** Ids signed with the stamp that is the newest so far, or beyond it. */
  const recent = new Map<string, number>();

  /** Stamps not yet in the past of events that replace others, by address. */
  const replaced = new Map<string, number>();

  /** A relay that is read right after a write may not have it yet: what was stamped here counts as well as what is read. */
  function earliest({ kind, tags, notBefore }: EventDraft, nowSec: number): number {
    if (notBefore === undefined) return nowSec;
    for (const [address, atSec] of replaced) if (atSec < nowSec) replaced.delete(address);
    const address = `${kind}:${firstValue(tags, 'd') ?? ''}`;
    const atSec = Math.max(nowSec, notBefore, (replaced.get(address) ?? -1) + 1);
    replaced.set(address, atSec);
    return atSec;
  }

  /** Two operations that say the same in the same second would be one event; the later takes the next free second. */
  function stamped(draft: EventDraft): EventTemplate {
    const { kind, tags, content } = draft;
    const nowSec = secondsOf(clock.now());
    // It says how things are in this moment; put off by a second for each before it, it would be ever further from true.
    if (isEphemeral(draft)) return { kind, tags, content, created_at: nowSec };
    for (const [id, atSec] of recent) if (atSec < nowSec) recent.delete(id);
    for (let atSec = earliest(draft, nowSec); ; atSec += 1) {
      const template = { kind, tags, content, created_at: seconds(atSec) };
      const id = eventIdOf(template, pubkey);
      if (recent.has(id)) continue;
      recent.set(id, atSec);
      return template;
    }
  }

  async function find(sought: VerifiedEvent, timeoutMs: number): Promise<Sighting> {
    const { events, complete } = await upstream.fetch(tracesOf(sought), { timeoutMs });
    const self = await relaySelf?.();
    if (events.some((event) => event.id === sought.id || isListedBy(event, sought, self))) return 'found';
    return complete ? 'absent' : 'unreadable';
  }

  return {
    compose: (draft) => keyring.sign(pubkey, stamped(draft)),
    async publish(event) {
      const outcome = await upstream.publish(event, { timeoutMs: PUBLISH_TIMEOUT_MS });
      if (outcome.status !== 'rejected' || isEphemeral(event)) return outcome;
      // NIP-BA 6: what failed had no effects, and here that can be looked at.
      const sighting = await find(event, RECHECK_TIMEOUT_MS);
      return sighting === 'found' ? { status: 'accepted', eventId: event.id } : outcome;
    },
    find: (sought) => find(sought, FIND_TIMEOUT_MS),
  };
}

/** NIP-01: never stored, so that there is nothing to look at. */
function isEphemeral({ kind }: Pick<VerifiedEvent, 'kind'>): boolean {
  return kind >= 20_000 && kind < 30_000;
}

function tracesOf({ id, kind, tags }: VerifiedEvent): readonly Filter[] {
  const itself: Filter = { ids: [id], limit: 1 };
  const channelId = kind === PUT_USER_KIND ? channelOf(tags) : undefined;
  if (channelId === undefined) return [itself];
  return [itself, { kinds: [MEMBERS_KIND], tags: new Map([['d', [channelId]], ['p', mentionsOf(tags)]]) }];
}

/** Every user of the put-user is in the list; anybody's word will do where the relay names no key of its own. */
function isListedBy(list: VerifiedEvent, { kind, tags }: VerifiedEvent, self: Pubkey | undefined): boolean {
  if (kind !== PUT_USER_KIND || list.kind !== MEMBERS_KIND) return false;
  if (self !== undefined && list.pubkey !== self) return false;
  const isOfChannel = firstValue(list.tags, 'd') === channelOf(tags);
  return isOfChannel && mentionsOf(tags).every((user) => mentions(list.tags, user));
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
