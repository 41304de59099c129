/**
 * Who may write into a channel and who may read an event. An event's audience is decided when it comes in and stored
 * beside it; `maySee` judges live deliveries by it and `query.ts` says the same in SQL (a twin test holds them
 * together). Channels not known to us have no readers and no writers: it fails closed.
 */
import { asChannelId, refuse } from '../model/index.ts';
import type { ChannelId, Pubkey } from '../model/index.ts';
import { channelOf, firstValue, mentionsOf } from '../nostr/index.ts';
import type { Tag, UnverifiedEvent } from '../nostr/index.ts';
import type { RelayRefusal } from './answers.ts';
import type { Channel } from './channel.ts';
import { AUTHOR_ONLY, KIND, RECIPIENTS_ONLY, SHARED_GATED } from './kinds.ts';

/** `participants` are the author and the `p` tags; `recipients` the `p` tags alone. */
export type Gate = 'all' | 'author' | 'recipients' | 'participants';

/** A reader must pass the gate, and be a member where `channel` is private. */
export interface Audience {
  readonly gate: Gate;
  readonly channel: ChannelId | undefined;
}

export type Channels = ReadonlyMap<ChannelId, Channel>;

export function audienceOf(event: UnverifiedEvent): Audience {
  const { kind, tags } = event;
  // A membership notice names a channel that its recipient may not (or no longer) read: the `p` gate alone counts.
  if (RECIPIENTS_ONLY.has(kind)) return { gate: 'recipients', channel: undefined };
  // NIP-AM: between the agent that wrote it and the owner it is sealed to.
  if (kind === KIND.turnMetric) return { gate: 'participants', channel: undefined };
  if (kind >= KIND.groupMetadata && kind <= KIND.groupMembers) {
    return { gate: 'all', channel: asChannelId(firstValue(tags, 'd') ?? '') };
  }
  return { gate: gateOf(event), channel: channelFor(event) };
}

/** NIP-AP "Ingest validation": a persona or a shared team lies in no channel, whatever its tags say. */
export function channelFor({ kind, tags }: UnverifiedEvent): ChannelId | undefined {
  return SHARED_GATED.has(kind) ? undefined : channelOf(tags);
}

function gateOf({ kind, tags }: UnverifiedEvent): Gate {
  if (AUTHOR_ONLY.has(kind)) return 'author';
  if (SHARED_GATED.has(kind)) return isShared(tags) ? 'all' : 'author';
  // NIP-AP "Access control: kind:44300": a deletion request tells a version's id, so it is as private as its target. So
  // is that of any other kind that its author alone may read.
  if (kind === KIND.deletion && namesPrivate(tags)) return 'author';
  return kind === KIND.engram ? 'participants' : 'all';
}

/** NIP-AP "Ingest validation": exactly `["shared","true"]`; in any other form it is refused, and would share nothing. */
export function isShared(tags: readonly Tag[]): boolean {
  return tags.some((tag) => tag[0] === 'shared' && tag[1] === 'true' && tag.length === 2);
}

function namesPrivate(tags: readonly Tag[]): boolean {
  return tags.some(([name, value = '']) =>
    (name === 'k' && AUTHOR_ONLY.has(Number(value))) || (name === 'a' && AUTHOR_ONLY.has(Number(value.split(':')[0]))));
}

/** True when a deletion request carries `["k","44300"]`. */
export function namesInstructions(event: Pick<UnverifiedEvent, 'tags'>): boolean {
  return event.tags.some((tag) => tag[0] === 'k' && tag[1] === String(KIND.instructions));
}

export function maySee(audience: Audience, event: UnverifiedEvent, reader: Pubkey, channels: Channels): boolean {
  if (!passes(audience.gate, event, reader)) return false;
  return audience.channel === undefined || isReader(channels.get(audience.channel), reader);
}

function passes(gate: Gate, event: UnverifiedEvent, reader: Pubkey): boolean {
  if (gate === 'all') return true;
  if (gate !== 'recipients' && event.pubkey === reader) return true;
  return gate !== 'author' && mentionsOf(event.tags).includes(reader);
}

/** Members may read; so may everybody where the channel is open. */
export function isReader(channel: Channel | undefined, reader: Pubkey): boolean {
  return channel !== undefined && (channel.visibility === 'open' || channel.members.has(reader));
}

/** Whether `author` may write into the channel: members may, and everybody where it is open. */
export function checkWriter(channel: Channel | undefined, author: Pubkey): RelayRefusal | undefined {
  if (channel === undefined) return refuse('restricted', 'unknown channel');
  return isReader(channel, author) ? undefined : refuse('restricted', 'not a channel member');
}
