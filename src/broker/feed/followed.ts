/**
 * The channels an agent follows now: each begun at its floor, announced, asked for, and given up again.
 *
 * A channel's floor is fixed at first sight and durable: at the agent's very first start a minute before the start;
 * for a channel joined later, its joining, less the difference of authors' clocks; for one joined unseen while the
 * agent was down, what had been read by then. Stored events that are before the floor at that sight are history, not
 * work.
 */
import { seconds } from '../../model/index.ts';
import type { ChannelId, Clock, Seconds } from '../../model/index.ts';
import { RESUME_OVERLAP_SEC } from '../ports.ts';
import type { AgentIdentity } from '../ports.ts';
import type { Upstream } from '../upstream/index.ts';
import { Channel } from './channel.ts';
import type { Line } from './line.ts';
import type { ResumePoints } from './resume.ts';

export interface FollowedOptions {
  readonly upstream: Pick<Upstream, 'subscribe' | 'unsubscribe'>;
  readonly identity: Pick<AgentIdentity, 'pubkey' | 'subscribe'>;
  readonly clock: Clock;
  readonly line: Line;
  readonly resume: ResumePoints;
  /** The floor of what is known from the start of the agent's very first run; undefined in every later run. */
  readonly firstStartSec: Seconds | undefined;
}

export class FollowedChannels {
  readonly #options: FollowedOptions;
  readonly #channels = new Map<ChannelId, Channel>();
  #ended = false;

  constructor(options: FollowedOptions) {
    this.#options = options;
  }

  ids(): readonly ChannelId[] {
    return [...this.#channels.keys()];
  }

  /** `joinedSec` is when the relay says it was joined; `atStart` is true for what the first answers tell. */
  async follow(channelId: ChannelId, joinedSec: Seconds | undefined, atStart: boolean): Promise<void> {
    const { upstream, identity, clock, line, resume } = this.#options;
    // A row of an earlier run stands: its floor never moves.
    if (resume.get(channelId) === undefined) await resume.begin(channelId, this.#floorSec(joinedSec, atStart));
    if (this.#ended || this.#channels.has(channelId)) return;
    const channel = new Channel({
      channelId,
      pubkey: identity.pubkey,
      subscribe: identity.subscribe,
      clock,
      resumePoint: () => resume.get(channelId),
      deliver: (event) => line.push({ type: 'event', channelId, event }),
      advance: (seenSec) => { resume.advance(channelId, seenSec); },
      passOver: (history) => { resume.passOver(channelId, history); },
    });
    this.#channels.set(channelId, channel);
    void line.push({ type: 'joined', channelId });
    upstream.subscribe(channel.spec);
  }

  /**
   * A channel that was left is forgotten: joined again it begins anew, for what was said without us is not ours. The
   * consumer is told of every channel it may hold something of, also of one that was left while we were down.
   */
  leave(channelId: ChannelId): void {
    const { line, resume } = this.#options;
    const known = resume.get(channelId) !== undefined;
    if (this.#drop(channelId) || known) void resume.forget(channelId, line.push({ type: 'left', channelId }));
  }

  /** Asks the relay for it once more. */
  askAgain(channelId: ChannelId): void {
    const channel = this.#channels.get(channelId);
    if (channel !== undefined) this.#options.upstream.subscribe(channel.spec);
  }

  /** Nothing of a channel comes after it. */
  end(): void {
    this.#ended = true;
    for (const channelId of this.ids()) this.#drop(channelId);
  }

  #floorSec(joinedSec: Seconds | undefined, atStart: boolean): Seconds {
    const { resume, firstStartSec } = this.#options;
    if (firstStartSec !== undefined && atStart) return firstStartSec;
    return joinedSec === undefined ? resume.newestSec() : seconds(joinedSec - RESUME_OVERLAP_SEC);
  }

  #drop(channelId: ChannelId): boolean {
    const channel = this.#channels.get(channelId);
    if (channel === undefined) return false;
    channel.close();
    this.#options.upstream.unsubscribe(channel.spec.id);
    return this.#channels.delete(channelId);
  }
}
