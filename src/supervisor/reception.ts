/**
 * What an agent's feed hands it: messages by way of the gate, channels that it joins or leaves.
 *
 * in: feed items, one at a time. out: what is to be accepted, obeyed or left; notes.
 * Never: lets the feed forget a message that is not on disk.
 */
import type { FeedItem } from '../broker/index.ts';
import { unreachable } from '../model/index.ts';
import type { ChannelId } from '../model/index.ts';
import type { VerifiedEvent } from '../nostr/index.ts';
import type { AgentOptions } from './agent-options.ts';
import type { Directory } from './directory.ts';
import type { OwnerCommand } from './gate.ts';
import type { Entry } from './inbox/entry.ts';
import { consider } from './intake.ts';
import type { Considered } from './intake.ts';

/** Each resolves when what it was given is on disk. */
export interface ReceptionOptions {
  readonly options: () => AgentOptions;
  readonly directory: Directory;
  readonly accept: (considered: Extract<Considered, { readonly is: 'new' }>) => Promise<void>;
  readonly command: (command: OwnerCommand, entry: Entry) => Promise<void>;
  readonly leave: (channelId: ChannelId) => Promise<void>;
}

export class Reception {
  readonly #parts: ReceptionOptions;

  constructor(parts: ReceptionOptions) {
    this.#parts = parts;
  }

  /** Resolves when the item is on disk or is none of ours: only then may the feed forget it. */
  async take(item: FeedItem): Promise<void> {
    switch (item.type) {
      case 'event':
        return this.#consider(item.event, item.channelId);
      case 'joined':
        return this.#parts.directory.forgetChannel(item.channelId);
      case 'left':
        return this.#parts.leave(item.channelId);
      default:
        return unreachable(item);
    }
  }

  async #consider(event: VerifiedEvent, channelId: ChannelId): Promise<void> {
    const { directory, accept, command } = this.#parts;
    const options = this.#parts.options();
    const { observe, name: agent, tape, clock } = options;
    const considered = await consider(event, channelId, directory, options);
    tape?.arrived({ event, channelId, considered, atMs: clock.now() });
    switch (considered.is) {
      case 'known':
        return;
      case 'refused':
        return observe({ type: 'refused', agent, eventId: event.id, reason: considered.reason, unanswered: considered.unanswered });
      case 'command':
        return command(considered.command, considered.entry);
      case 'new':
        await accept(considered);
        return observe({ type: 'accepted', agent, eventId: event.id, author: event.pubkey, channelId });
      default:
        return unreachable(considered);
    }
  }
}
