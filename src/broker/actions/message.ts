/**
 * A kind 9 message as Buzz reads it: `h`, then the thread's `e` tags, then one `p` tag for each mention, lowercase and
 * once each. NIP-BA "Channel and messages"; NIP-10 for the markers.
 */
import type { ChannelId, EventId } from '../../model/index.ts';
import { replyTags } from '../../nostr/index.ts';
import type { Tag } from '../../nostr/index.ts';
import type { EventDraft } from '../draft.ts';

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
