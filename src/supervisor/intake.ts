/**
 * From a feed's event to an inbox entry: the gate's questions answered with facts from the directory and the store.
 * Cheap refusals come first, so that most of what a channel carries costs nothing.
 */
import { milliseconds } from '../model/index.ts';
import type { ChannelId, EventId } from '../model/index.ts';
import { destinationOf } from '../nostr/index.ts';
import type { VerifiedEvent } from '../nostr/index.ts';
import type { AgentOptions } from './agent-options.ts';
import type { Directory } from './directory.ts';
import { admit, sift } from './gate.ts';
import type { GateRefusal } from './gate.ts';
import type { Entry } from './inbox/entry.ts';
import { knows, lastHops } from './inbox/rows.ts';

export type Considered =
  | { readonly is: 'new'; readonly entry: Entry }
  | { readonly is: 'known' }
  | { readonly is: 'refused'; readonly reason: GateRefusal };

type IntakeOptions = Pick<AgentOptions, 'gate' | 'store' | 'link' | 'clock' | 'session'>;

export async function consider(
  event: VerifiedEvent, channelId: ChannelId, directory: Directory, options: IntakeOptions,
): Promise<Considered> {
  const { gate, store, link, clock } = options;
  const sifted = sift(event, gate);
  if (!sifted.pass) return { is: 'refused', reason: sifted.reason };
  if (await knows(store, link.pubkey, event.id)) return { is: 'known' };
  const [profiles, channel, hopsBefore] = await Promise.all([
    directory.profiles([event.pubkey]),
    directory.channel(channelId),
    lastHops(store, link.pubkey, channelId),
  ]);
  const author = profiles.get(event.pubkey) ?? { isAgent: false };
  const admitted = admit(event, gate, { author, channelType: channel?.type, lastHops: hopsBefore });
  if (!admitted.pass) return { is: 'refused', reason: admitted.reason };
  const destination = destinationOf(event);
  const policy = channel?.type === 'dm' ? 'channel' : options.session;
  return {
    is: 'new',
    entry: {
      eventId: event.id, channelId, destination, lane: laneOf(policy, channelId, destination), author: event.pubkey,
      rule: sifted.rule, hops: admitted.hops, receivedAtMs: clock.now(), attempts: 0, interrupted: false, notBeforeMs: milliseconds(0),
      event,
    },
  };
}

/** A lane is the channel, or one thread of it under the thread policy. Direct messages stay whole (NIP-AP). */
export function laneOf(policy: 'channel' | 'thread', channelId: ChannelId, destination: EventId): string {
  return policy === 'thread' ? `${channelId}/${destination}` : channelId;
}
