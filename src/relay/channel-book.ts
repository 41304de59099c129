/**
 * All channels as they stand after the last commit, and the one road to change them: an event and everything the relay
 * signs because of it are one write. Changes of a channel happen one after the other; other channels never wait.
 */
import { Failure, refuse, secondsOf } from '../model/index.ts';
import type { ChannelId, Clock, EventId, Pubkey } from '../model/index.ts';
import type { EventTemplate, VerifiedEvent } from '../nostr/index.ts';
import type { Store } from '../store/index.ts';
import { audienceOf } from './access.ts';
import { ACCEPTED, answerNotStored } from './answers.ts';
import type { Answer, RelayRefusal } from './answers.ts';
import { channelRecords, contains, explain, keep } from './archive.ts';
import type { Entry } from './archive.ts';
import { channelEvents, nextStamp, restoreChannels } from './channel-events.ts';
import { decideChange } from './channel.ts';
import type { Channel } from './channel.ts';
import type { RelayLimits } from './limits.ts';
import type { Delivery } from './subscription.ts';

export interface BookOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly limits: RelayLimits;
  /** The relay's own key. */
  readonly self: Pubkey;
  readonly sign: (template: EventTemplate) => VerifiedEvent;
}

interface Changed {
  readonly answer: Answer;
  readonly deliveries: readonly Delivery[];
}

export class ChannelBook {
  readonly #options: BookOptions;
  readonly #channels: Map<ChannelId, Channel>;
  readonly #changing = new Map<ChannelId, Promise<unknown>>();

  private constructor(options: BookOptions, channels: Map<ChannelId, Channel>) {
    this.#options = options;
    this.#channels = channels;
  }

  /** Reads the channels back from what the relay has signed. Throws `config` where another key has signed them. */
  static async open(options: BookOptions): Promise<ChannelBook> {
    const records = await channelRecords(options.store);
    const foreign = records.find((event) => event.pubkey !== options.self);
    if (foreign !== undefined) {
      throw new Failure(
        'config',
        `relay key: expected that of ${foreign.pubkey}, who signed the stored channels, found that of ${options.self}`,
      );
    }
    return new ChannelBook(options, restoreChannels(records));
  }

  get channels(): ReadonlyMap<ChannelId, Channel> {
    return this.#channels;
  }

  /** Runs `work` after the changes of the channel asked for before it; with `exclusive` later ones wait for it too. */
  async inTurn<Result>(channelId: ChannelId, exclusive: boolean, work: () => Promise<Result>): Promise<Result> {
    for (let before = this.#changing.get(channelId); before !== undefined; before = this.#changing.get(channelId)) {
      await before;
    }
    const done = work();
    if (!exclusive) return done;
    const settled = done.then(() => undefined, () => undefined).then(() => this.#changing.delete(channelId));
    this.#changing.set(channelId, settled);
    return done;
  }

  /** Carries out one of `CHANNEL_CHANGES`, inside its turn. `deliveries` are to be fanned out, in this order. */
  async change(entry: Entry, channelId: ChannelId): Promise<Changed> {
    const { store } = this.#options;
    // The same event again must not be judged by the state it has made itself.
    if (await contains(store, entry.event.id)) return unchanged(answerNotStored('duplicate'));
    const before = this.#channels.get(channelId);
    const decided = decideChange(before, channelId, entry.event);
    if (!decided.ok) return unchanged(decided);
    const beyond = this.#checkSize(before, decided.channel);
    if (beyond !== undefined) return unchanged(beyond);
    const { after, entries } = this.#announce(before, decided.channel, entry.event.id);
    const places = await keep(store, [entry, ...entries]);
    if (places[0] === undefined) return unchanged(answerNotStored(await explain(store, entry)));
    this.#channels.set(channelId, after);
    const deliveries = [entry, ...entries].map((each, index) => ({ ...each, seq: places[index] }));
    return { answer: ACCEPTED, deliveries };
  }

  #checkSize(before: Channel | undefined, after: Channel): RelayRefusal | undefined {
    const { maxChannels, maxMembers } = this.#options.limits;
    if (before === undefined && this.#channels.size >= maxChannels) {
      return refuse('restricted', `the relay holds its limit of ${maxChannels} channels`);
    }
    if (after.members.size > maxMembers) return refuse('restricted', `a channel has at most ${maxMembers} members`);
    return undefined;
  }

  /** Puts a channel in that is not there yet; to one that is, adds the members it lacks. */
  async seed(channel: Channel): Promise<void> {
    const before = this.#channels.get(channel.id);
    const members = new Map([...channel.members, ...(before?.members ?? [])]);
    const { after, entries } = this.#announce(before, { ...(before ?? channel), members });
    if (entries.length === 0) return;
    await keep(this.#options.store, entries);
    this.#channels.set(channel.id, after);
  }

  #announce(
    before: Channel | undefined, decided: Channel, because?: EventId,
  ): { readonly after: Channel; readonly entries: readonly Entry[] } {
    const { clock, sign } = this.#options;
    const after = { ...decided, stampSec: nextStamp(before, secondsOf(clock.now())) };
    const templates = channelEvents(before, after);
    // A change of nothing signs nothing and takes no second: else repeating one would push the stamps into the future.
    if (templates.length === 0 && before !== undefined) return { after: before, entries: [] };
    const entries = templates.map((template) => {
      const event = sign(template);
      const entry = { event, json: JSON.stringify(event), audience: audienceOf(event) };
      return because === undefined ? entry : { ...entry, because };
    });
    return { after, entries };
  }
}

function unchanged(answer: Answer): Changed {
  return { answer, deliveries: [] };
}
