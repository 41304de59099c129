/**
 * Where an answer hangs: fetches the parent, checks that it stands in the channel, and derives its NIP-10 root from
 * its signed tags. An answer is never taken for the root (NIP-BA "Channel and messages").
 */
import type { ChannelId, EventId } from '../../model/index.ts';
import { threadOf } from '../../nostr/index.ts';
import type { VerifiedEvent } from '../../nostr/index.ts';
import { standsIn } from './action.ts';
import type { ActionContext, Unreadable } from './action.ts';

export type Ancestry =
  | { readonly status: 'known'; readonly root: EventId; readonly parent: EventId }
  /** The relay has answered, and there is no such message for us in that channel, or no such thread. */
  | { readonly status: 'missing'; readonly detail: string }
  | Unreadable;

type Fetch = ActionContext['fetch'];

export async function ancestryOf(channelId: ChannelId, parentId: EventId, fetch: Fetch): Promise<Ancestry> {
  const parent = await readEvent(parentId, channelId, fetch);
  if (parent.status !== 'found') return parent.status === 'missing' ? missing('the parent') : parent;
  const place = threadOf(parent.event.tags);
  if (place.at === 'top') return { status: 'known', root: parentId, parent: parentId };
  // The parent's author may write any id into a tag: the root, too, must be a message of this channel.
  const root = await readEvent(place.root, channelId, fetch);
  if (root.status !== 'found') return root.status === 'missing' ? missing("the root of the parent's thread") : root;
  // Two messages that name different roots: to go on with either would hang the answer where others do not see it.
  if (threadOf(root.event.tags).at !== 'top') {
    return { status: 'missing', detail: 'the parent names as the root of its thread a message that answers another' };
  }
  return { status: 'known', root: place.root, parent: parentId };
}

export type EventReading =
  | { readonly status: 'found'; readonly event: VerifiedEvent }
  | { readonly status: 'missing' }
  | Unreadable;

/** An event by its id, when it stands in that channel. */
export async function readEvent(id: EventId, channelId: ChannelId, fetch: Fetch): Promise<EventReading> {
  const { events, complete, refusal } = await fetch([{ ids: [id], limit: 1 }]);
  const event = events.find((candidate) => candidate.id === id);
  if (event === undefined) return complete ? { status: 'missing' } : { status: 'unreadable', refusal };
  // A message of another channel is answered like one that does not exist: what the agent may see is not told here.
  return standsIn(event, channelId) ? { status: 'found', event } : { status: 'missing' };
}

function missing(what: string): Ancestry {
  return { status: 'missing', detail: `${what} is not a readable message of this channel` };
}
