/**
 * What a channel is (NIP-29 as Buzz uses it) and what an event does to it: pure, `decideChange(channel, event)`.
 *
 *   event              who                                          what
 *   9007 create        anyone, for a channel not there yet          creator is admin and member
 *   9000 put-user      admins; anyone themselves, into an open one  member, or admin with a role by an admin
 *   9001 remove-user   admins; anyone themselves
 *   9002 edit          admins                                       name, about, visibility, archived
 *   9021 join          anyone, into an open one
 *   9022 leave         members
 */
import { asPubkey, excerpt, refuse } from '../model/index.ts';
import type { ChannelId, Pubkey, Seconds } from '../model/index.ts';
import { firstValue } from '../nostr/index.ts';
import type { Tag, UnverifiedEvent } from '../nostr/index.ts';
import type { RelayRefusal } from './answers.ts';
import { KIND } from './kinds.ts';

export type Role = 'admin' | 'member';
export type Visibility = 'open' | 'private';
export type ChannelType = 'stream' | 'forum' | 'dm';

export interface Channel {
  readonly id: ChannelId;
  readonly name: string;
  readonly about: string;
  readonly visibility: Visibility;
  readonly type: ChannelType;
  readonly archived: boolean;
  readonly members: ReadonlyMap<Pubkey, Role>;
  /** The newest stamp on what the relay has signed about this channel: the next is later, so that it replaces. */
  readonly stampSec: Seconds;
}

export type Change = { readonly ok: true; readonly channel: Channel } | RelayRefusal;

/** `channel` is undefined where there is none of that id; `event` is one of `CHANNEL_CHANGES`, its form checked. */
export function decideChange(channel: Channel | undefined, id: ChannelId, event: UnverifiedEvent): Change {
  if (event.kind === KIND.createGroup) {
    return channel === undefined ? createChannel(id, event) : refuse('restricted', 'the channel exists already');
  }
  if (channel === undefined) return refuse('restricted', 'unknown channel');
  switch (event.kind) {
    case KIND.putUser:
      return putUsers(channel, event);
    case KIND.removeUser:
      return removeUsers(channel, event);
    case KIND.editMetadata:
      return isAdmin(channel, event.pubkey) ? editMetadata(channel, event.tags) : notAdmin();
    case KIND.joinRequest:
      return join(channel, event.pubkey);
    case KIND.leaveRequest:
      return channel.members.has(event.pubkey)
        ? { ok: true, channel: without(channel, [event.pubkey]) }
        : refuse('restricted', 'not a channel member');
    default:
      throw new TypeError(`kind ${event.kind} changes no channel`);
  }
}

export function isAdmin(channel: Channel, pubkey: Pubkey): boolean {
  return channel.members.get(pubkey) === 'admin';
}

function createChannel(id: ChannelId, event: UnverifiedEvent): Change {
  const { tags } = event;
  const type = readType(firstValue(tags, 'channel_type') ?? firstValue(tags, 't') ?? 'stream');
  if (type === undefined) return refuse('invalid', 'channel_type: expected stream, forum or dm');
  const blank: Channel = {
    id,
    name: id,
    about: '',
    // A direct conversation is never open, whatever was asked for.
    visibility: type === 'dm' ? 'private' : 'open',
    type,
    archived: false,
    members: new Map([[event.pubkey, 'admin']]),
    stampSec: 0 as Seconds,
  };
  return editMetadata(blank, tags);
}

function editMetadata(channel: Channel, tags: readonly Tag[]): Change {
  const visibility = readVisibility(tags) ?? channel.visibility;
  if (visibility !== 'open' && visibility !== 'private') {
    return refuse('invalid', `visibility: expected open or private, found "${excerpt(visibility, 24)}"`);
  }
  const archived = firstValue(tags, 'archived');
  return {
    ok: true,
    channel: {
      ...channel,
      name: firstValue(tags, 'name') ?? channel.name,
      about: firstValue(tags, 'about') ?? channel.about,
      visibility: channel.type === 'dm' ? 'private' : visibility,
      archived: archived === undefined ? channel.archived : archived === 'true',
    },
  };
}

function putUsers(channel: Channel, event: UnverifiedEvent): Change {
  const targets = readTargets(event.tags);
  if (targets === undefined) return refuse('invalid', 'p: expected at least one, each 64 lowercase hex characters');
  const byAdmin = isAdmin(channel, event.pubkey);
  const oneself = channel.visibility === 'open' && targets.every(({ pubkey }) => pubkey === event.pubkey);
  if (!byAdmin && !oneself) return notAdmin();
  const members = new Map(channel.members);
  for (const { pubkey, role } of targets) {
    const granted = byAdmin ? role : undefined;
    members.set(pubkey, granted ?? channel.members.get(pubkey) ?? 'member');
  }
  return { ok: true, channel: { ...channel, members } };
}

function removeUsers(channel: Channel, event: UnverifiedEvent): Change {
  const targets = readTargets(event.tags)?.map(({ pubkey }) => pubkey);
  if (targets === undefined) return refuse('invalid', 'p: expected at least one, each 64 lowercase hex characters');
  const oneself = targets.every((pubkey) => pubkey === event.pubkey);
  if (!isAdmin(channel, event.pubkey) && !oneself) return notAdmin();
  return { ok: true, channel: without(channel, targets) };
}

function join(channel: Channel, pubkey: Pubkey): Change {
  // NIP-29 "join request": who is in already is told so.
  if (channel.members.has(pubkey)) return refuse('duplicate', 'already a member of the channel');
  if (channel.visibility !== 'open') return refuse('restricted', 'the channel is private; ask an admin to add you');
  return { ok: true, channel: { ...channel, members: new Map([...channel.members, [pubkey, 'member']]) } };
}

function without(channel: Channel, targets: readonly Pubkey[]): Channel {
  const members = new Map(channel.members);
  for (const target of targets) members.delete(target);
  return { ...channel, members };
}

interface Target {
  readonly pubkey: Pubkey;
  readonly role: Role | undefined;
}

/** NIP-29 writes the role behind the pubkey, Buzz in a `role` tag. `owner` is an admin here; the rest are members. */
function readTargets(tags: readonly Tag[]): readonly Target[] | undefined {
  const forAll = firstValue(tags, 'role');
  const targets = tags.filter((tag) => tag[0] === 'p').map((tag) => {
    const pubkey = asPubkey(tag[1] ?? '');
    return pubkey === undefined ? undefined : { pubkey, role: readRole(tag[2] ?? forAll) };
  });
  const read = targets.filter((target) => target !== undefined);
  return read.length === targets.length && read.length > 0 ? read : undefined;
}

function readRole(text: string | undefined): Role | undefined {
  if (text === undefined || text === '') return undefined;
  return text === 'admin' || text === 'owner' ? 'admin' : 'member';
}

/** Buzz writes `["visibility", …]`, NIP-29 a bare `["private"]` or `["public"]`. */
function readVisibility(tags: readonly Tag[]): string | undefined {
  const written = firstValue(tags, 'visibility');
  if (written !== undefined) return written;
  if (tags.some((tag) => tag[0] === 'private')) return 'private';
  return tags.some((tag) => tag[0] === 'public') ? 'open' : undefined;
}

function readType(text: string): ChannelType | undefined {
  return text === 'stream' || text === 'forum' || text === 'dm' ? text : undefined;
}

function notAdmin(): RelayRefusal {
  return refuse('restricted', 'only an admin of the channel may do that');
}
