/**
 * Asks the relay which channels an agent is in, and turns its answers into membership commands. What it says of
 * channels and membership (39000, 39002, 44100, 44101) must be signed with the relay's own key where that is known (NIP-11 `self`).
 */
import { asChannelId, later } from '../../model/index.ts';
import type { ChannelId, Clock, Log, Pubkey, Seconds } from '../../model/index.ts';
import { channelOf, firstValue, mentions } from '../../nostr/index.ts';
import type { VerifiedEvent } from '../../nostr/index.ts';
import type { SubscriptionSpec, Upstream } from '../upstream/index.ts';
import { DISCOVERY_MS, MAX_KNOWN } from './limits.ts';
import { archivedOf, GATHERING, memberOf, step } from './membership.ts';
import type { MembershipCommand, MembershipInput } from './membership.ts';

const MEMBERS = 'members';
const NOTICES = 'membership-notif';
const METADATA_KIND = 39_000;
const MEMBERS_KIND = 39_002;
const ADDED_KIND = 44_100;
const REMOVED_KIND = 44_101;

export interface DiscoveryOptions {
  readonly upstream: Pick<Upstream, 'subscribe' | 'unsubscribe'>;
  readonly pubkey: Pubkey;
  readonly clock: Clock;
  readonly log: Log;
  /** The relay's own key, where it is known. */
  readonly relaySelf: () => Promise<Pubkey | undefined>;
  /** Notices are asked for from here on; read each time they are asked for. */
  readonly sinceSec: () => Seconds;
  /** Channels whose lists are asked for although they may not name us: those we follow, or followed before. */
  readonly remembered: () => readonly ChannelId[];
  /** One command at a time, in order; the next waits for the promise. */
  readonly perform: (command: MembershipCommand) => Promise<void>;
}

export class Discovery {
  readonly #options: DiscoveryOptions;
  readonly #answered = new Set<string>();
  #membership = GATHERING;
  #work: Promise<void> = Promise.resolve();
  #cancelWake: (() => void) | undefined;
  #closed = false;

  constructor(options: DiscoveryOptions) {
    this.#options = options;
  }

  start(): void {
    this.#options.upstream.subscribe(this.#members());
    this.#options.upstream.subscribe(noticesSpec(this.#options, {
      onNotice: (input) => this.#tell(input),
      onEose: () => { this.#complete(NOTICES); },
    }));
  }

  /** Settles when the command in hand has. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelWake?.();
    this.#options.upstream.unsubscribe(MEMBERS);
    this.#options.upstream.unsubscribe(NOTICES);
    await this.#work;
  }

  /** Undefined as long as it is not known; a channel that no complete answer speaks of is not ours. */
  isMember(channelId: ChannelId): boolean | undefined {
    if (this.#membership.status === 'gathering') return undefined;
    const heardAll = this.#answered.has(MEMBERS) && this.#membership.known.size < MAX_KNOWN;
    return memberOf(this.#membership, channelId) ?? (heardAll ? false : undefined);
  }

  /**
   * The lists that name us; and those of the channels we remember, to see when one names us no longer, with what they
   * are, to see when one is archived, or open again.
   */
  #members(): SubscriptionSpec {
    const { pubkey, remembered } = this.#options;
    return {
      id: MEMBERS,
      filters: () => {
        const channels = [...new Set([...remembered(), ...archivedOf(this.#membership)])].slice(0, MAX_KNOWN);
        const ours = { kinds: [MEMBERS_KIND], tags: new Map([['p', [pubkey]]]) };
        const theirs = { kinds: [METADATA_KIND, MEMBERS_KIND], tags: new Map([['d', channels]]) };
        return channels.length === 0 ? [ours] : [ours, theirs];
      },
      onEvent: async (event, stored) => {
        const channelId = asChannelId(firstValue(event.tags, 'd') ?? '');
        const type = statementOf(event, pubkey);
        if (channelId === undefined || !await isByRelay(event, this.#options)) return;
        await this.#tell({ type, channelId, atSec: event.created_at, stored });
      },
      onEose: () => { this.#complete(MEMBERS); },
    };
  }

  /** The first answers are in when both are, or when the other one takes too long. */
  #complete(id: string): void {
    const { clock } = this.#options;
    this.#answered.add(id);
    if (this.#closed || this.#membership.status !== 'gathering') return;
    if (this.#answered.size === 2) void this.#tell({ type: 'complete' });
    else this.#cancelWake ??= clock.wake(later(clock.now(), DISCOVERY_MS), () => { void this.#tell({ type: 'complete' }); });
  }

  #tell(input: MembershipInput): Promise<void> {
    this.#work = this.#work.then(() => this.#decide(input));
    return this.#work;
  }

  async #decide(input: MembershipInput): Promise<void> {
    if (this.#closed) return;
    if (input.type === 'complete') this.#cancelWake?.();
    const { state, commands } = step(this.#membership, input);
    const changed = state.followed.size !== this.#membership.followed.size;
    this.#membership = state;
    for (const command of commands) await this.#options.perform(command);
    // Asked anew, now also for the lists of the channels just joined. What they say again changes nothing.
    if (changed && !this.#stopped()) this.#options.upstream.subscribe(this.#members());
  }

  /** Asked after an await: the answer may have changed. */
  #stopped(): boolean {
    return this.#closed;
  }
}

export interface Notices {
  /** Undefined for a channel that no notice speaks of. */
  isMember(channelId: ChannelId): boolean | undefined;
  close(): void;
}

/**
 * For channels that are configured, not discovered: they stay followed as they are, but one that refused us may be
 * asked for again as soon as the relay says that we were added to it.
 */
export function watchNotices(
  options: Pick<DiscoveryOptions, 'upstream' | 'pubkey' | 'sinceSec' | 'relaySelf' | 'log'>, onAdded: (channelId: ChannelId) => void,
): Notices {
  let membership = GATHERING;
  options.upstream.subscribe(noticesSpec(options, {
    onNotice: async (notice) => {
      membership = step(membership, notice).state;
      if (notice.type === 'added' && !notice.stored) onAdded(notice.channelId);
    },
  }));
  return {
    isMember: (channelId) => memberOf(membership, channelId),
    close() { options.upstream.unsubscribe(NOTICES); },
  };
}

type Notice = Exclude<MembershipInput, { readonly type: 'complete' }>;

interface NoticeHandlers {
  readonly onNotice: (notice: Notice) => Promise<void>;
  readonly onEose?: () => void;
}

/** Never in one filter with channel kinds: these are p-gated (Buzz closes a REQ that mixes them). */
function noticesSpec(
  options: Pick<DiscoveryOptions, 'pubkey' | 'sinceSec' | 'relaySelf' | 'log'>, { onNotice, onEose }: NoticeHandlers,
): SubscriptionSpec {
  const { pubkey, sinceSec } = options;
  return {
    id: NOTICES,
    filters: () => [{ kinds: [ADDED_KIND, REMOVED_KIND], tags: new Map([['p', [pubkey]]]), since: sinceSec() }],
    onEvent: async (event, stored) => {
      const channelId = channelOf(event.tags);
      const type = event.kind === ADDED_KIND ? 'added' : 'removed';
      if (channelId === undefined || !await isByRelay(event, options)) return;
      await onNotice({ type, channelId, atSec: event.created_at, stored });
    },
    ...(onEose === undefined ? {} : { onEose }),
  };
}

function statementOf({ kind, tags }: VerifiedEvent, pubkey: Pubkey): 'archived' | 'open' | 'listed' | 'unlisted' {
  if (kind === METADATA_KIND) return firstValue(tags, 'archived') === 'true' ? 'archived' : 'open';
  return mentions(tags, pubkey) ? 'listed' : 'unlisted';
}

/** Anybody's signature will do where the relay names no key of its own. */
async function isByRelay(event: VerifiedEvent, { relaySelf, pubkey, log }: Pick<DiscoveryOptions, 'relaySelf' | 'pubkey' | 'log'>): Promise<boolean> {
  const self = await relaySelf();
  if (self === undefined || event.pubkey === self) return true;
  log.warn('feed: a statement about membership that is not the relay\'s own', { agent: pubkey, kind: event.kind, by: event.pubkey });
  return false;
}
