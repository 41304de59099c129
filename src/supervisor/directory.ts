/**
 * What is known of people and channels: profiles (kind 0) and group metadata (kind 39000), fetched when a turn or the
 * gate needs them, in bounded time, and remembered for a while. What cannot be found out is told as not known.
 *
 * in: an `AgentLink` to read with. out: facts. Never: trusts a claim that a signature does not prove.
 */
import { asPubkey, later } from '../model/index.ts';
import type { ChannelId, Clock, Milliseconds, Pubkey } from '../model/index.ts';
import { attestationIn, firstValue, newestFirst } from '../nostr/index.ts';
import type { VerifiedEvent } from '../nostr/index.ts';
import type { AgentLink } from '../broker/index.ts';
import { RecentMap } from './recent-map.ts';

/** A person or agent. `owner` is proven by the attestation in their profile, or known from our own config. */
export interface ProfileFacts {
  readonly displayName?: string;
  readonly nip05?: string;
  readonly isAgent: boolean;
  readonly owner?: Pubkey;
}

/** `type` is `dm`, `stream`, `forum` or the relay's own word. */
export interface ChannelFacts {
  readonly name: string;
  readonly type: string;
  readonly description?: string;
}

/** `answered` is false when the relay did not answer in time: then what is not there may be there all the same. */
export interface LookedUp<Facts> {
  readonly facts: Facts;
  readonly answered: boolean;
}

/** One look-up may take this long; then the answer is "not known". Buzz's sibling look-up has the same bound. */
const LOOKUP_TIMEOUT_MS = 2_000;
/** Profiles and channels remembered for each agent. */
const MAX_REMEMBERED = 2_048;
/** A fact is looked up again after this long; so is a profile that was not there. */
const FRESH_MS = 300_000;
/** A channel that the relay does not describe is asked for again soon: it may be about to. */
const UNDESCRIBED_MS = 5_000;
const STRANGER: ProfileFacts = { isAgent: false };
const NOTHING_FETCHED: LookedUp<ReadonlyMap<Pubkey, ProfileFacts>> = { facts: new Map(), answered: true };

interface Remembered<Facts> {
  readonly facts: Facts;
  readonly untilMs: Milliseconds;
}

export class Directory {
  readonly #link: AgentLink;
  readonly #clock: Clock;
  /** Agents of this very supervisor, which need no proof. */
  readonly #own: ReadonlyMap<Pubkey, ProfileFacts>;
  readonly #profiles = new RecentMap<Pubkey, Remembered<ProfileFacts>>(MAX_REMEMBERED);
  readonly #channels = new RecentMap<ChannelId, Remembered<ChannelFacts | undefined>>(MAX_REMEMBERED);

  constructor(link: AgentLink, clock: Clock, own: ReadonlyMap<Pubkey, ProfileFacts>) {
    this.#link = link;
    this.#clock = clock;
    this.#own = own;
  }

  /** Facts about each of `pubkeys`; one request for all that are not remembered. Someone not found is a stranger. */
  async profiles(pubkeys: readonly Pubkey[]): Promise<LookedUp<ReadonlyMap<Pubkey, ProfileFacts>>> {
    const wanted = [...new Set(pubkeys)];
    const missing = wanted.filter((pubkey) => !this.#isFresh(this.#profiles.get(pubkey)));
    const fetched = missing.length > 0 ? await this.#fetchProfiles(missing) : NOTHING_FETCHED;
    const facts = new Map(wanted.map((pubkey) => [
      pubkey,
      this.#withOwn(pubkey, fetched.facts.get(pubkey) ?? this.#profiles.get(pubkey)?.facts ?? STRANGER),
    ]));
    return { facts, answered: fetched.answered };
  }

  /** The metadata of a channel, or undefined when nobody told it in time. */
  async channel(channelId: ChannelId): Promise<LookedUp<ChannelFacts | undefined>> {
    const known = this.#channels.get(channelId);
    if (this.#isFresh(known)) return { facts: known?.facts, answered: true };
    const { events, complete } = await this.#link.fetch(
      [{ kinds: [39_000], tags: new Map([['d', [channelId]]]), limit: 1 }],
      { timeoutMs: LOOKUP_TIMEOUT_MS },
    );
    const newest = [...events].sort(newestFirst).find((event) => firstValue(event.tags, 'd') === channelId);
    const facts = newest === undefined ? known?.facts : channelFacts(newest);
    if (complete) this.#channels.set(channelId, { facts, untilMs: this.#until(newest !== undefined) });
    return { facts, answered: complete };
  }

  /** Forgets a channel, so that the next look-up asks the relay: its membership or metadata changed. */
  forgetChannel(channelId: ChannelId): void {
    this.#channels.delete(channelId);
  }

  /** Our own config knows who is ours without asking; the name they chose comes from their profile where there is one. */
  #withOwn(pubkey: Pubkey, facts: ProfileFacts): ProfileFacts {
    const own = this.#own.get(pubkey);
    return own === undefined ? facts : { ...own, ...facts, isAgent: own.isAgent, ...(own.owner && { owner: own.owner }) };
  }

  async #fetchProfiles(pubkeys: readonly Pubkey[]): Promise<LookedUp<ReadonlyMap<Pubkey, ProfileFacts>>> {
    const { events, complete } = await this.#link.fetch(
      [{ kinds: [0], authors: pubkeys, limit: pubkeys.length }],
      { timeoutMs: LOOKUP_TIMEOUT_MS },
    );
    const heads = new Map<Pubkey, VerifiedEvent>();
    for (const event of [...events].sort(newestFirst)) if (!heads.has(event.pubkey)) heads.set(event.pubkey, event);
    const found = new Map<Pubkey, ProfileFacts>();
    for (const pubkey of pubkeys) {
      const head = heads.get(pubkey);
      const facts = head === undefined ? (this.#profiles.get(pubkey)?.facts ?? STRANGER) : profileFacts(head);
      if (complete) this.#profiles.set(pubkey, { facts, untilMs: this.#until(true) });
      found.set(pubkey, facts);
    }
    return { facts: found, answered: complete };
  }

  #until(described: boolean): Milliseconds {
    return later(this.#clock.now(), described ? FRESH_MS : UNDESCRIBED_MS);
  }

  #isFresh(remembered: { readonly untilMs: Milliseconds } | undefined): boolean {
    return remembered !== undefined && remembered.untilMs > this.#clock.now();
  }
}

/** Kind 0 as facts. Content that is not a JSON object names nobody; the attestation counts all the same. */
function profileFacts(event: VerifiedEvent): ProfileFacts {
  const attested = attestationIn(event.tags, event.pubkey, event);
  const content = jsonObject(event.content);
  const displayName = content['display_name'] ?? content['displayName'] ?? content['name'];
  const nip05 = content['nip05'];
  return {
    isAgent: attested.ok,
    ...(attested.ok ? { owner: attested.attestation.owner } : {}),
    ...(typeof displayName === 'string' ? { displayName } : {}),
    ...(typeof nip05 === 'string' ? { nip05 } : {}),
  };
}

/** Kind 39000 as facts. A bare `hidden` tag or `["t","dm"]` means direct messages, as Buzz reads it. */
function channelFacts(event: VerifiedEvent): ChannelFacts {
  const types = event.tags.filter((tag) => tag[0] === 't').map((tag) => tag[1]);
  const hidden = event.tags.some((tag) => tag[0] === 'hidden');
  const forum = types.includes('forum') || firstValue(event.tags, 'channel_type') === 'forum';
  const description = firstValue(event.tags, 'about');
  return {
    name: firstValue(event.tags, 'name') ?? '',
    type: hidden || types.includes('dm') ? 'dm' : forum ? 'forum' : 'stream',
    ...(description !== undefined && description !== '' ? { description } : {}),
  };
}

/** Pubkeys among texts that may be anything: mentions are written by strangers. */
export function pubkeysIn(texts: readonly string[]): readonly Pubkey[] {
  return texts.flatMap((text) => asPubkey(text.toLowerCase()) ?? []);
}

function jsonObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}
