/**
 * A kind 9 message as Buzz reads it: `h`, then the thread's `e` tags, then one `p` tag for each mention, lowercase and
 * once each. NIP-BA "Channel and messages"; NIP-10 for the markers.
 */
import { mayPassForCard } from '../../cards/index.ts';
import type { ChannelId, EventId } from '../../model/index.ts';
import { replyTags } from '../../nostr/index.ts';
import type { Tag } from '../../nostr/index.ts';
import type { EventDraft } from '../draft.ts';
import { refused } from './action.ts';
import type { Refused } from './action.ts';

/** NIP-29 chat message. */
export const MESSAGE_KIND = 9;

export interface MessageParts {
  readonly channelId: ChannelId;
  readonly content: string;
  readonly thread?: { readonly root: EventId; readonly parent: EventId };
  readonly mentions?: readonly string[];
  /** Tags of our own, after all others. */
  readonly marks?: readonly Tag[];
}

/**
 * Why an agent may not write this. NIP-AO "Sentinel authenticity": a permission card is known by the agent's key, which
 * signs what the agent says, too. With a card of its own it could offer its owner the options of a request that waits,
 * the one for the other.
 */
export function contentRefusal(content: string): Refused | undefined {
  return mayPassForCard(content) ? refused('action_failed', 'content: expected no permission card; those are written for the agent, not by it') : undefined;
}

export function messageDraft({ channelId, content, thread, mentions = [], marks = [] }: MessageParts): EventDraft {
  const mentioned = new Set(mentions.map((mention) => mention.toLowerCase()));
  return {
    kind: MESSAGE_KIND,
    tags: [
      ['h', channelId],
      ...(thread === undefined ? [] : replyTags(thread.root, thread.parent)),
      ...[...mentioned].map((mention): Tag => ['p', mention]),
      ...marks,
    ],
    content,
  };
}
