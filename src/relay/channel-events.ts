/**
 * What the relay signs about a channel, written and read in this one place: 39000 metadata, 39001 admins, 39002
 * members (NIP-29), and the notices 44100 "you were added" / 44101 "you were removed". The stored 39000-39002 are the
 * channel's only memory: `restoreChannels` reads them back at the next start.
 */
import { asChannelId, asPubkey, seconds } from '../model/index.ts';
import type { ChannelId, Pubkey, Seconds } from '../model/index.ts';
import { firstValue, mentionsOf } from '../nostr/index.ts';
import type { EventTemplate, Tag, UnverifiedEvent } from '../nostr/index.ts';
import type { Channel, ChannelType, Role } from './channel.ts';
import { KIND } from './kinds.ts';

/**
 * The change from `before` (undefined: there was no channel) to `after` as events to sign, all stamped
 * `after.stampSec`. Nothing changed is nothing signed.
 */
export function channelEvents(before: Channel | undefined, after: Channel): readonly EventTemplate[] {
  const templates: EventTemplate[] = [];
  const add = (kind: number, tags: readonly Tag[]): void => {
    templates.push({ kind, tags, content: '', created_at: after.stampSec });
  };
  if (before === undefined || !sameMetadata(before, after)) add(KIND.groupMetadata, metadataTags(after));
  if (before === undefined || admins(before).join() !== admins(after).join()) {
    add(KIND.groupAdmins, [['d', after.id], ...admins(after).map((pubkey) => ['p', pubkey, 'admin'])]);
  }
  const joined = [...after.members.keys()].filter((pubkey) => before?.members.has(pubkey) !== true);
  const left = [...(before?.members.keys() ?? [])].filter((pubkey) => !after.members.has(pubkey));
  if (before === undefined || joined.length + left.length > 0) {
    add(KIND.groupMembers, [['d', after.id], ...[...after.members.keys()].map((pubkey) => ['p', pubkey])]);
  }
  for (const pubkey of joined) add(KIND.memberAdded, [['p', pubkey], ['h', after.id]]);
  for (const pubkey of left) add(KIND.memberRemoved, [['p', pubkey], ['h', after.id]]);
  return templates;
}

/** A stamp no earlier than now and later than all before it, also where the clock stood still or went back. */
export function nextStamp(before: Channel | undefined, nowSec: Seconds): Seconds {
  return seconds(Math.max(nowSec, (before?.stampSec ?? 0) + 1));
}

/** `events` are all stored 39000, 39001 and 39002 of the relay's own pubkey. */
export function restoreChannels(events: readonly UnverifiedEvent[]): Map<ChannelId, Channel> {
  const channels = new Map<ChannelId, Channel>();
  const byChannel = new Map<string, UnverifiedEvent[]>();
  for (const event of events) {
    const d = firstValue(event.tags, 'd') ?? '';
    byChannel.set(d, [...(byChannel.get(d) ?? []), event]);
  }
  for (const [d, found] of byChannel) {
    const id = asChannelId(d);
    const metadata = found.find((event) => event.kind === KIND.groupMetadata);
    if (id !== undefined && metadata !== undefined) channels.set(id, restoreChannel(id, metadata.tags, found));
  }
  return channels;
}

function restoreChannel(id: ChannelId, metadata: readonly Tag[], events: readonly UnverifiedEvent[]): Channel {
  const listed = (kind: number): readonly Pubkey[] =>
    mentionsOf(events.find((event) => event.kind === kind)?.tags ?? []).flatMap((text) => asPubkey(text) ?? []);
  const adminSet = new Set(listed(KIND.groupAdmins));
  const roleOf = (pubkey: Pubkey): Role => (adminSet.has(pubkey) ? 'admin' : 'member');
  return {
    id,
    name: firstValue(metadata, 'name') ?? id,
    about: firstValue(metadata, 'about') ?? '',
    visibility: has(metadata, 'private') ? 'private' : 'open',
    type: restoreType(firstValue(metadata, 't')),
    archived: firstValue(metadata, 'archived') === 'true',
    members: new Map(listed(KIND.groupMembers).map((pubkey) => [pubkey, roleOf(pubkey)])),
    stampSec: seconds(Math.max(...events.map((event) => event.created_at))),
  };
}

/** Buzz's readers take `hidden` or `t` = `dm` for a direct conversation and `private` for a private channel. */
function metadataTags(channel: Channel): readonly Tag[] {
  const tags: Tag[] = [['d', channel.id], ['name', channel.name]];
  if (channel.about !== '') tags.push(['about', channel.about]);
  tags.push(...(channel.visibility === 'private' ? [['private'], ['closed']] : [['public'], ['open']]));
  if (channel.type === 'dm') tags.push(['hidden']);
  tags.push(['t', channel.type]);
  if (channel.archived) tags.push(['archived', 'true']);
  return tags;
}

function sameMetadata(before: Channel, after: Channel): boolean {
  return JSON.stringify(metadataTags(before)) === JSON.stringify(metadataTags(after));
}

function admins(channel: Channel): readonly Pubkey[] {
  return [...channel.members].flatMap(([pubkey, role]) => (role === 'admin' ? [pubkey] : []));
}

function restoreType(text: string | undefined): ChannelType {
  return text === 'dm' || text === 'forum' ? text : 'stream';
}

function has(tags: readonly Tag[], name: string): boolean {
  return tags.some((tag) => tag[0] === name);
}
