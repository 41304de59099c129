/**
 * Whether the messages of a page are what was asked for: "All returned messages MUST satisfy the requested
 * channel/thread/mention filters", by their signed tags alone (NIP-BA "Channel and messages").
 * A client does not know the agent's key, so of a mention it can only ask that the message mentions somebody.
 */
import { asEventId } from '../../model/index.ts';
import type { ChannelId, EventId } from '../../model/index.ts';
import { mentionsOf } from '../../nostr/index.ts';
import type { Tag } from '../../nostr/index.ts';

interface Asked {
  readonly channelId: ChannelId;
  readonly rootEventId?: EventId;
  readonly mentionsOnly?: boolean;
}

interface Message {
  readonly id: EventId;
  readonly tags: readonly Tag[];
}

/** What is wrong with the first message that is not what `asked` names, or undefined. */
export function strayMessage(asked: Asked, messages: readonly Message[]): string | undefined {
  for (const [index, message] of messages.entries()) {
    const filter = filterMissed(asked, message);
    if (filter !== undefined) return `messages[${index}]: found a message outside the ${filter}, expected none`;
  }
  return undefined;
}

function filterMissed(asked: Asked, { id, tags }: Message): string | undefined {
  if (!tags.some((tag) => tag[0] === 'h' && tag[1] === asked.channelId)) return 'channel';
  const root = asked.rootEventId;
  if (root !== undefined && id !== root && rootOf(tags) !== root) return 'thread';
  return asked.mentionsOnly === true && mentionsOf(tags).length === 0 ? 'mentions' : undefined;
}

/**
 * The root that the markers name. Buzz answers a root with a lone `reply`, NIP-10 itself with a lone `root`; which of
 * them a host counts as a reply is its own affair, so both pass here.
 */
function rootOf(tags: readonly Tag[]): EventId | undefined {
  return lastMarked(tags, 'root') ?? lastMarked(tags, 'reply');
}

function lastMarked(tags: readonly Tag[], marker: string): EventId | undefined {
  return tags.flatMap((tag) => (tag[0] === 'e' && tag[3] === marker ? idOf(tag) : [])).at(-1);
}

function idOf(tag: Tag): readonly EventId[] {
  const id = asEventId((tag[1] ?? '').toLowerCase());
  return id === undefined ? [] : [id];
}
