/**
 * An agent's feed: follows its channels, configured or discovered, and hands what comes to the one consumer, one item
 * at a time: `joined` before a channel's events, `left` after them.
 *
 * The consumer must bear to see an event twice: after a restart or a reconnect a feed reaches back by design.
 */
import { later, seconds, secondsOf, unreachable } from '../../model/index.ts';
import type { ChannelId, Clock, Log, Pubkey, Seconds } from '../../model/index.ts';
import type { Store } from '../../store/index.ts';
import { RESUME_OVERLAP_SEC } from '../ports.ts';
import type { AgentIdentity, FeedConsumer } from '../ports.ts';
import type { Upstream } from '../upstream/index.ts';
import { Discovery, watchNotices } from './discovery.ts';
import type { Notices } from './discovery.ts';
import { FollowedChannels } from './followed.ts';
import { CLOSE_GRACE_MS, FIRST_START_SEC } from './limits.ts';
import { Line } from './line.ts';
import type { MembershipCommand } from './membership.ts';
import { ResumePoints } from './resume.ts';

export interface FeedOptions {
  readonly upstream: Pick<Upstream, 'subscribe' | 'unsubscribe'>;
  readonly identity: Pick<AgentIdentity, 'pubkey' | 'channels' | 'subscribe'>;
  readonly store: Pick<Store, 'read' | 'write'>;
  readonly clock: Clock;
  readonly log: Log;
  /** The relay's own key (NIP-11 `self`), where it is known; bounded in time, never rejects. */
  readonly relaySelf: () => Promise<Pubkey | undefined>;
}

export interface Feed {
  /** Starts it. One consumer; a second call throws. A rejected promise of the consumer ends the feed, loudly. */
  follow(consumer: FeedConsumer): void;
  /** The channels followed now. */
  channels(): readonly ChannelId[];
  /** Whether the relay says that the agent is a member now; undefined as long as that is not known. */
  isMember(channelId: ChannelId): boolean | undefined;
  /** Takes nothing more, lets the item in hand end (bounded), writes the read positions. Twice is once. */
  close(): Promise<void>;
}

export function openFeed(options: FeedOptions): Feed {
  return new AgentFeed(options);
}

class AgentFeed implements Feed {
  readonly #options: FeedOptions;
  readonly #startSec: Seconds;
  #line: Line | undefined;
  #resume: ResumePoints | undefined;
  #followed: FollowedChannels | undefined;
  #starting: Promise<void> = Promise.resolve();
  #membership: Discovery | Notices | undefined;
  #ended = false;
  #closing: Promise<void> | undefined;

  constructor(options: FeedOptions) {
    this.#options = options;
    // Taken before anything is asked: what happens while we connect belongs to the agent.
    this.#startSec = seconds(secondsOf(options.clock.now()) - FIRST_START_SEC);
  }

  follow(consumer: FeedConsumer): void {
    if (this.#line !== undefined) throw new TypeError('a feed has one consumer');
    if (this.#ended) return;
    this.#line = new Line(consumer, (error) => { this.#fail('the consumer failed', error); });
    this.#starting = this.#start(this.#line).catch((error: unknown) => {
      this.#fail('the read positions could not be read', error);
    });
  }

  channels(): readonly ChannelId[] {
    return this.#followed?.ids() ?? [];
  }

  isMember(channelId: ChannelId): boolean | undefined {
    return this.#membership?.isMember(channelId);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #start(line: Line): Promise<void> {
    const { store, identity, clock, log, upstream, relaySelf } = this.#options;
    const { pubkey } = identity;
    const resume = await ResumePoints.load({ store, agent: pubkey, clock, log });
    this.#resume = resume;
    const firstStartSec = resume.isFirstStart ? this.#startSec : undefined;
    if (firstStartSec !== undefined) await resume.begin(undefined, firstStartSec);
    const followed = new FollowedChannels({ upstream, identity, clock, line, resume, firstStartSec });
    this.#followed = followed;
    for (const channelId of this.#ended ? [] : identity.channels ?? []) await followed.follow(channelId, undefined, true);
    if (this.#ended) return;
    const sinceSec = (): Seconds => seconds(Math.max(0, resume.newestSec() - RESUME_OVERLAP_SEC));
    if (identity.channels === undefined) {
      const perform = (command: MembershipCommand): Promise<void> => this.#perform(command, followed);
      const remembered = (): readonly ChannelId[] => resume.channels();
      const discovery = new Discovery({ upstream, pubkey, clock, log, relaySelf, sinceSec, remembered, perform });
      this.#membership = discovery;
      discovery.start();
    } else {
      this.#membership = watchNotices({ upstream, pubkey, log, relaySelf, sinceSec }, (channelId) => { followed.askAgain(channelId); });
    }
  }

  async #perform(command: MembershipCommand, followed: FollowedChannels): Promise<void> {
    const { channelId } = command;
    switch (command.type) {
      case 'follow':
        await followed.follow(channelId, command.joinedSec, command.first);
        return;
      case 'leave':
        followed.leave(channelId);
        return;
      case 'too-many':
        this.#options.log.warn('feed: too many channels, one is not followed', { agent: this.#options.identity.pubkey, channelId });
        return;
      default:
        unreachable(command);
    }
  }

  #fail(what: string, error: unknown): void {
    this.#options.log.error(`feed: ${what}; this agent's feed has ended`, { agent: this.#options.identity.pubkey, error });
    void this.#end();
  }

  async #end(): Promise<void> {
    this.#ended = true;
    this.#followed?.end();
    await this.#membership?.close();
  }

  async #close(): Promise<void> {
    const { clock } = this.#options;
    const ended = this.#end();
    await this.#starting;
    // Starting may have come as far as a channel or discovery in the meantime.
    await Promise.all([ended, this.#end()]);
    await new Promise<void>((resolve) => {
      const cancel = clock.wake(later(clock.now(), CLOSE_GRACE_MS), resolve);
      void (this.#line?.end() ?? Promise.resolve()).then(() => {
        cancel();
        resolve();
      });
    });
    await this.#resume?.close();
  }
}
