/**
 * Tags as Buzz uses them: the channel (`h`), mentions (`p`) and NIP-10 marked threads. The reading rules are the
 * compiler's own (it keeps a copy, because it imports nothing); `test/nostr/tags.test.ts` holds the two together.
 */
import { asChannelId, asEventId } from '../model/index.ts';
import type { ChannelId, EventId } from '../model/index.ts';
import type { Tag } from './event.ts';

/** The tag on everything that skep writes for itself: it wakes no agent, ours or a sibling's. */
export const OWN_MARK = 'skep';

/** Where an event hangs: at the top of its channel, or below `root` in answer to `parent`. */
export type ThreadPlace =
  | { readonly at: 'top' }
  | { readonly at: 'thread'; readonly root: EventId; readonly parent: EventId };

/** The channel of the first `h` tag, when it is a UUID in canonical form. */
export function channelOf(tags: readonly Tag[]): ChannelId | undefined {
  const value = firstValue(tags, 'h');
  return value === undefined ? undefined : asChannelId(value);
}

/** The second element of the first tag called `name`. */
export function firstValue(tags: readonly Tag[], name: string): string | undefined {
  return tags.find((tag) => tag[0] === name)?.[1];
}

/** The second element of every `p` tag that has one, in order, as written. */
export function mentionsOf(tags: readonly Tag[]): readonly string[] {
  return tags.flatMap((tag) => (tag[0] === 'p' && tag[1] !== undefined ? [tag[1]] : []));
}

/** True when a `p` tag names `pubkey`, in either case. */
export function mentions(tags: readonly Tag[], pubkey: string): boolean {
  return mentionsOf(tags).some((mention) => mention.toLowerCase() === pubkey);
}

/**
 * NIP-10 as Buzz restricts it: an `e` tag counts with at least four elements, a 64-hex id and the marker `root` or
 * `reply`; the last of each marker wins. A lone `reply` names root and parent, a lone `root` is no reply.
 */
export function threadOf(tags: readonly Tag[]): ThreadPlace {
  const root = lastMarked(tags, 'root');
  const reply = lastMarked(tags, 'reply');
  if (reply === undefined) return { at: 'top' };
  return { at: 'thread', root: root ?? reply, parent: reply };
}

/** The tags of an answer to `parent` in the thread of `root`: one `reply` tag at the root, else `root` and `reply`. */
export function replyTags(root: EventId, parent: EventId): readonly Tag[] {
  if (root === parent) return [['e', root, '', 'reply']];
  return [['e', root, '', 'root'], ['e', parent, '', 'reply']];
}

/** Where the conversation of an event lives: its thread's root, or itself when it stands at the top. */
export function destinationOf(event: { readonly id: EventId; readonly tags: readonly Tag[] }): EventId {
  const place = threadOf(event.tags);
  return place.at === 'thread' ? place.root : event.id;
}

function lastMarked(tags: readonly Tag[], marker: 'root' | 'reply'): EventId | undefined {
  const tag = tags.findLast(
    (candidate) => candidate[0] === 'e' && candidate[3] === marker && markedId(candidate) !== undefined,
  );
  return tag === undefined ? undefined : markedId(tag);
}

function markedId(tag: Tag): EventId | undefined {
  return tag[1] === undefined ? undefined : asEventId(tag[1].toLowerCase());
}
