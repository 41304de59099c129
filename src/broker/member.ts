/**
 * One agent's part of a running broker: its relay connection and what lives on it (feed, controls, permission cards,
 * canary, the pursuit of its records in doubt), opened together and closed in order.
 * in: who the agent is, and what all agents share. out: the parts, which `openLink` puts behind one door.
 */
import type { ChannelId, Clock, Log, Pubkey, Random } from '../model/index.ts';
import type { Store } from '../store/index.ts';
import type { Cursors } from './actions/index.ts';
import { openAgent } from './agent.ts';
import type { Agent, PublicIdentity } from './agent.ts';
import { openCanary } from './canary/index.ts';
import type { Canary } from './canary/index.ts';
import { openCardRows, openCards } from './cards/index.ts';
import type { Cards } from './cards/index.ts';
import { openControls } from './controls/index.ts';
import type { Controls } from './controls/index.ts';
import { openFeed } from './feed/index.ts';
import type { Feed } from './feed/index.ts';
import { openPursuit } from './journal/index.ts';
import type { Journal, Pursuit } from './journal/index.ts';
import type { Keyring } from './keyring.ts';
import type { Registry } from './managed/index.ts';
import type { AgentLink } from './ports.ts';
import { authSigner, openPublisher } from './publish.ts';
import { openUpstream } from './upstream/index.ts';
import type { RelaySelf } from './upstream/index.ts';

export interface Member {
  readonly agent: Agent;
  readonly feed: Feed;
  readonly controls: Controls;
  readonly cards: Cards;
  readonly canary?: Canary;
  readonly pursuit: Pursuit;
  readonly link: AgentLink;
}

interface MemberOptions {
  /** In normal form. */
  readonly relayUrl: string;
  /** What names the community in the journal's keys. */
  readonly community: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly steadyClock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** In the place of the real relay connection. */
  readonly openUpstream?: typeof openUpstream;
}

/** One for all agents. */
interface Shared {
  readonly keyring: Keyring;
  readonly journal: Journal;
  readonly cursors: Cursors;
  readonly relaySelf: RelaySelf;
  readonly registry: Registry;
}

/** Begins to connect at once. */
export function openMember(
  { relayUrl, community, store, clock, steadyClock, random, log, openUpstream: open = openUpstream }: MemberOptions,
  identity: PublicIdentity,
  { keyring, journal, cursors, relaySelf, registry: managed }: Shared,
): Omit<Member, 'link'> {
  const { pubkey, owner, attestation } = identity;
  const signer = { pubkey, keyring, clock, ...(attestation === undefined ? {} : { attestation }) };
  const upstream = open({ url: relayUrl, pubkey, signAuth: authSigner(signer), clock: steadyClock, random, log });
  const self = (): Promise<Pubkey | undefined> => relaySelf.key();
  const publisher = openPublisher({ pubkey, keyring, clock, upstream, relaySelf: self });
  const { canaryMs: everyMs } = identity;
  const canary = everyMs === undefined ? undefined : openCanary({ everyMs, pubkey, publisher, upstream, steadyClock, log });
  const heard = canary?.upstream ?? upstream;
  const feed = openFeed({ upstream: heard, identity, store, clock, log, relaySelf: self });
  const isMember = (channelId: ChannelId): boolean | undefined => feed.isMember(channelId);
  const agent = openAgent({
    identity, community, upstream, publisher, keyring, cursors, managed, clock, steadyClock, log, isMember,
  });
  const cards = openCards({
    owner: identity.owner, rows: openCardRows(store, { community, agent: pubkey }), publisher, upstream, steadyClock, log,
  });
  const pursuit = openPursuit({ clock: steadyClock, log, reconcile: () => journal.reconcile(agent.namespace) });
  const controls = openControls({
    agent: pubkey, owner, upstream: heard, open: (payload) => keyring.open(pubkey, owner, payload), store, clock, steadyClock, log,
  });
  return { agent, feed, controls, cards, pursuit, ...(canary && { canary }) };
}

/** What is still on its way to the relay gets `graceMs`. */
export async function closeOutgoing({ agent: { telemetry, metrics, signals }, cards }: Member, graceMs: number): Promise<void> {
  await Promise.all([telemetry.close(graceMs), metrics.close(graceMs), signals.close(graceMs), cards.close(graceMs)]);
}

/** The connections end last, which settles everything that waits. */
export async function closeMembers(members: readonly Member[]): Promise<void> {
  for (const { pursuit, controls, canary } of members) {
    pursuit.close();
    canary?.close();
    controls.close();
  }
  await Promise.all(members.map(({ feed }) => feed.close()));
  await Promise.all(members.map(({ agent }) => agent.upstream.close()));
}
